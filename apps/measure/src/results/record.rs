// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One line of the results.

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::action::{Action, Direction};

/// One line of the results; times of day are local to the machine that measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    Start(Start),
    Measurement(Measurement),
    Failure(Failure),
}

/// `netnice-measure run` has begun, or goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Start {
    pub at: DateTime<FixedOffset>,
    pub host: String,
    pub actions: Vec<Action>,
    pub version: String,
}

/// One action was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    pub at: DateTime<FixedOffset>,
    /// Seconds of measuring so far, restarts and the pauses between them left out.
    pub elapsed_s: f64,
    pub action: Action,
    pub direction: Direction,
    /// Of the primary.
    pub bytes: u64,
    /// Of the primary.
    pub seconds: f64,
    /// Of all others while the primary ran.
    pub beside_bytes: u64,
    /// The primary took too long, and was ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Others that ended before the primary did: what they found is more than `beside_bytes`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ended: u32,
    /// 64 bytes, 5 a second.
    pub ping: Option<Latency>,
    /// 200 bytes, 50 a second, both ways.
    pub call: Option<Latency>,
    /// So much did the clock jump since the record before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_jump_s: Option<f64>,
}

/// One action could not be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    pub at: DateTime<FixedOffset>,
    pub elapsed_s: f64,
    pub action: Action,
    pub why: String,
}

/// Round-trip times of datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub sent: u32,
    pub lost: u32,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub max_ms: f64,
}

impl Measurement {
    /// Of the primary, Mbit/s.
    #[must_use]
    pub fn primary_mbit(&self) -> f64 {
        mbit(self.bytes, self.seconds)
    }

    /// Of all others together, Mbit/s.
    #[must_use]
    pub fn beside_mbit(&self) -> f64 {
        mbit(self.beside_bytes, self.seconds)
    }
}

fn mbit(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8e-6 / seconds.max(1e-9)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Record {
    /// Seconds of measuring until this record; none at a start.
    #[must_use]
    pub fn elapsed_s(&self) -> Option<f64> {
        match self {
            Self::Start(_) => None,
            Self::Measurement(m) => Some(m.elapsed_s),
            Self::Failure(f) => Some(f.elapsed_s),
        }
    }
}
