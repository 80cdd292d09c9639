// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is transferred: bytes that no modem or tunnel on the way can compress.

/// A piece of noise, sent over and over.
#[derive(Debug)]
pub struct Payload(Vec<u8>);

impl Payload {
    #[must_use]
    pub fn new(length: usize) -> Self {
        let mut bytes = vec![0; length];
        fastrand::fill(&mut bytes);
        Self(bytes)
    }

    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}
