// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What PPM-n/w may be told: TCP Nice (OSDI 2002), section 6.1, has the two presets.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest context: memory grows by one context a page and order.
pub const MOST_ORDER: usize = 8;
/// The longest window, in pages: each counts once for every page in it.
pub const MOST_WINDOW: usize = 64;

/// The parameters of a predictor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// n: how many of a client's latest pages make a context, 1 to 8.
    pub order: usize,
    /// w: how many of its next pages a prediction is about, 1 to 64.
    pub window: usize,
    /// Predictions that are less probable are not made, 0 to 1.
    pub threshold: f64,
    /// How long a client waits after a reply before it asks for what was predicted.
    pub pause: Duration,
    /// A URL is predicted once so many networks have asked for it, 1 to 255.
    pub min_clients: u8,
    /// URLs without a known reply are predicted, too.
    pub trust_logs: bool,
    /// Bytes for all that is learned: contexts and URLs age when they need more.
    pub memory: usize,
    /// Clients whose latest requests are kept; the one silent longest is forgotten.
    pub clients: usize,
    /// A client that is silent for so long begins a new visit.
    pub visit: Duration,
}

impl Params {
    /// As in the literature that the paper cites: few, likely URLs, and only when the client has been idle.
    pub const CONSERVATIVE: Self = Self {
        order: 2,
        window: 5,
        threshold: 0.25,
        pause: Duration::from_secs(1),
        min_clients: 1,
        trust_logs: false,
        memory: 128 << 20,
        clients: 10_000,
        visit: Duration::from_secs(30 * 60),
    };

    /// Whatever was ever asked for after these pages, at once.
    pub const AGGRESSIVE: Self = Self {
        window: 10,
        threshold: 0.00001,
        pause: Duration::ZERO,
        ..Self::CONSERVATIVE
    };

    pub(crate) fn checked(self) -> Result<Self, Error> {
        let wrong = |name, value: f64, least, most| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(Error::Range {
                name,
                value,
                least,
                most,
            })
        };
        wrong("order", self.order as f64, 1.0, MOST_ORDER as f64)?;
        wrong("window", self.window as f64, 1.0, MOST_WINDOW as f64)?;
        wrong("threshold", self.threshold, 0.0, 1.0)?;
        wrong("min_clients", f64::from(self.min_clients), 1.0, 255.0)?;
        wrong("memory", self.memory as f64, 65536.0, 1e12)?;
        wrong("clients", self.clients as f64, 1.0, 1e7)?;
        Ok(self)
    }
}

/// Whether the text is the pattern; `*` at its end stands for anything.
pub fn matches(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => text.starts_with(start),
        None => text == pattern,
    }
}

/// What can be wrong with what a predictor is given.
#[derive(Debug, Error, PartialEq)]
pub enum Error {
    #[error("{name} is {value}; it must be from {least} to {most}")]
    Range {
        name: &'static str,
        value: f64,
        least: f64,
        most: f64,
    },
    #[error("what was kept does not fit together at {0}; it is from another version, or damaged")]
    Damaged(&'static str),
}
