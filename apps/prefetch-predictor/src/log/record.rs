// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a line of a log tells.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::kind;
use crate::Request;

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Since 1970.
    pub at: Duration,
    /// Address and, where the log has it, program of the client, as one number.
    pub client: u64,
    pub method: String,
    /// As it was asked for: a path, from a proxy's log a whole URL.
    pub url: String,
    pub status: u16,
    /// Bytes of the reply; 0 where the log does not say.
    pub bytes: u64,
    /// Whether somebody was logged in by HTTP's own means.
    pub user: bool,
}

impl Record {
    /// What a predictor may learn from it; nothing from errors, partial replies, forms and people logged in.
    pub fn request(&self) -> Option<Request<'_>> {
        let whole = matches!(self.status, 200 | 304);
        (self.method == "GET" && whole && !self.user).then(|| Request {
            client: self.client,
            url: &self.url,
            page: kind::is_page(&self.url),
            cachable: kind::is_static(&self.url),
            at: self.at,
        })
    }
}

/// The number of a client: by its address and, where the log has it, its program.
pub(super) fn client(address: &str, program: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (address, program).hash(&mut hasher);
    hasher.finish()
}
