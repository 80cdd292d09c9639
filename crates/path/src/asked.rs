// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What was asked of a direction, as summaries and traces give it.

use serde::Serialize;

use crate::link::{Limit, LinkSpec};

/// What was asked of a direction.
#[derive(Debug, Serialize)]
pub struct Asked {
    pub bits_per_second: Option<u64>,
    pub delay_us: f64,
    pub queue: Limit,
    pub loss: f64,
    pub priority: bool,
}

impl Asked {
    pub fn of(spec: &LinkSpec) -> Asked {
        Asked {
            bits_per_second: spec.rate,
            delay_us: spec.delay as f64 / 1e3,
            queue: spec.limit,
            loss: spec.loss,
            priority: spec.priority,
        }
    }
}
