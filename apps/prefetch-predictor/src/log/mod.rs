// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Access logs, a line at a time: Common and Combined (Apache, nginx), W3C extended (IIS), Squid's own.

mod apache;
mod kind;
mod squid;
mod w3c;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use crate::Request;

pub use kind::is_page;

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
            page: is_page(&self.url),
            cachable: kind::is_static(&self.url),
            at: self.at,
        })
    }
}

/// Reads lines of any of these formats; a W3C log's own header says what its fields are.
#[derive(Debug, Default)]
pub struct Reader {
    w3c: w3c::Fields,
}

impl Reader {
    /// `None`: a comment, or no line of any format.
    pub fn line(&mut self, line: &str) -> Option<Record> {
        if self.w3c.header(line) {
            return None;
        }
        self.w3c
            .record(line)
            .or_else(|| apache::record(line))
            .or_else(|| squid::record(line))
    }
}

fn client(address: &str, program: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (address, program).hash(&mut hasher);
    hasher.finish()
}
