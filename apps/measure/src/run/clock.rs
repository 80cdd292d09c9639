// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Two clocks: one that says what time of day it is and may jump, one that only goes on.

use std::time::Duration;

use chrono::{DateTime, FixedOffset, Local};
use nix::time::{clock_gettime, ClockId};

/// Less is how a clock is kept right, not a jump.
const JUMP: f64 = 2.0;

/// Both, at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub wall: DateTime<FixedOffset>,
    /// Since boot, sleep included.
    pub steady: Duration,
}

impl Reading {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        let steady = clock_gettime(ClockId::CLOCK_BOOTTIME).map(Duration::from);
        Self {
            wall: Local::now().fixed_offset(),
            steady: steady.unwrap_or_default(),
        }
    }

    /// Seconds by which the wall clock has jumped since `before`, if it has.
    #[must_use]
    pub fn jumped(&self, before: &Self) -> Option<f64> {
        let wall = (self.wall - before.wall).num_milliseconds() as f64 / 1e3;
        let steady = self.steady.as_secs_f64() - before.steady.as_secs_f64();
        let jump = wall - steady;
        (jump.abs() >= JUMP).then(|| (jump * 1e3).round() / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_what_the_steady_clock_does_not_know() {
        let at = |wall: &str, steady| Reading {
            wall: wall.parse().expect("a time"),
            steady: Duration::from_secs(steady),
        };
        let before = at("2026-05-11T12:00:00+02:00", 100);
        assert_eq!(at("2026-05-11T12:10:01+02:00", 700).jumped(&before), None);
        assert_eq!(
            at("2026-05-11T13:10:00+02:00", 700).jumped(&before),
            Some(3600.0)
        );
        assert_eq!(
            at("2026-05-11T11:10:00+02:00", 700).jumped(&before),
            Some(-3600.0)
        );
        // Another time zone is no jump.
        assert_eq!(at("2026-05-11T11:10:00+01:00", 700).jumped(&before), None);
    }

    #[test]
    fn both_go_on() {
        let (one, two) = (Reading::now(), Reading::now());
        assert!(two.steady >= one.steady);
        assert_eq!(two.jumped(&one), None);
    }
}
