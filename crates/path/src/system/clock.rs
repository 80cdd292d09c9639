// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The monotonic clock, in nanoseconds.

use nix::time::{clock_gettime, ClockId};

use crate::link::Nanos;

/// Now, on the monotonic clock: comparable with other processes' readings of it.
pub fn now() -> Nanos {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has a monotonic clock");
    time.tv_sec() as Nanos * 1_000_000_000 + time.tv_nsec() as Nanos
}
