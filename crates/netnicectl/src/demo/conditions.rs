// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Conditions of the demonstration, and what its processes tell each other.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Of both directions.
pub const RATE_MBIT: u32 = 10;
pub const RTT_MS: u32 = 40;
/// The router's buffer, of each direction, in BDP.
pub const BUFFER_BDP: u32 = 3;
pub const UPLOADS: usize = 4;

/// What runs beside the page loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Background {
    Nothing,
    Plain,
    Netnice,
}

impl Background {
    pub const ALL: [Self; 3] = [Self::Nothing, Self::Plain, Self::Netnice];

    /// For how long pages are fetched.
    pub fn lasts(self) -> Duration {
        Duration::from_secs(if self == Self::Nothing { 4 } else { 7 })
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Nothing => "alone",
            Self::Plain => "beside plain uploads",
            Self::Netnice => "beside netnice uploads",
        }
    }
}

/// What the user's process on the line tells.
#[derive(Debug, Serialize, Deserialize)]
pub enum Event {
    Phase(Background),
    Page { at: f64, ms: f64 },
    Lost,
    Uploads { bps: f64 },
}
