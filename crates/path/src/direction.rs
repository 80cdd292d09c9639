// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One direction of a path: its settings, its link at work, and its statistics.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::link::{Limit, Link, LinkSpec, Volume};

/// Its link, and what came out.
#[derive(Debug)]
pub struct Direction {
    pub link: Link<Vec<u8>>,
    pub delivered: [Volume; 2],
    /// Packets the kernel would not take.
    pub refused: u64,
    /// Nanoseconds from due to delivery.
    pub lateness: Histogram<u64>,
    /// Nanoseconds from arrival to the end of service, by class.
    pub queued: [Histogram<u64>; 2],
}

impl Direction {
    /// One that nothing has gone through yet.
    pub fn new(spec: LinkSpec) -> Direction {
        Direction {
            link: Link::new(spec),
            delivered: Default::default(),
            refused: 0,
            lateness: histogram(),
            queued: [histogram(), histogram()],
        }
    }
}

/// Up to an hour, to three digits.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("the bounds are in order")
}

/// The settings of a direction.
#[derive(Debug, Serialize)]
pub struct Settings {
    pub bits_per_second: Option<u64>,
    pub delay_us: f64,
    pub queue: Limit,
    pub loss: f64,
    pub priority: bool,
}

impl Settings {
    pub fn of(spec: &LinkSpec) -> Settings {
        Settings {
            bits_per_second: spec.rate,
            delay_us: spec.delay as f64 / 1e3,
            queue: spec.limit,
            loss: spec.loss,
            priority: spec.priority,
        }
    }
}
