// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What waits in a link, and how much of it.

use crate::class::Class;

/// Nanoseconds since any fixed moment.
pub type Nanos = u64;

/// A packet in the link; `payload` is the caller's.
#[derive(Debug)]
pub(super) struct Packet<T> {
    pub arrival: Nanos,
    pub bytes: u32,
    pub class: Class,
    pub payload: T,
}

/// Packets and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Volume {
    pub packets: u64,
    pub bytes: u64,
}

impl Volume {
    pub(super) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}
