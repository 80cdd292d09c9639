// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Access logs, a line at a time: Common and Combined (Apache, nginx), W3C extended (IIS), Squid's own.

mod apache;
mod kind;
mod record;
mod squid;
mod w3c;

pub use kind::is_page;
pub use record::Record;

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
