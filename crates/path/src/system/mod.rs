// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the path needs of Linux: devices, namespaces, real-time scheduling.

pub mod network;
pub mod supervisor;

use std::io;

use nix::sys::mman::{mlockall, MlockAllFlags};
use nix::sys::prctl;
use nix::time::{clock_gettime, ClockId};

use crate::link::Nanos;

/// Now, on the monotonic clock: comparable with other processes' readings of it.
pub fn now() -> Nanos {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has a monotonic clock");
    time.tv_sec() as Nanos * 1_000_000_000 + time.tv_nsec() as Nanos
}

const FIFO_PRIORITY: i32 = 50;
const MEMORY_ADVICE: &str = "raise the limit with 'ulimit -l unlimited' or run as root";
const FIFO_ADVICE: &str = "run as root or with CAP_SYS_NICE, and see that the cgroup grants real-time time";

/// What was granted; `refused` says what was not, why, and what to do.
#[derive(Debug, Default)]
pub struct Granted {
    pub fifo: bool,
    pub refused: Vec<String>,
}

/// Asks for everything that helps; call it after the last fork, since children must not inherit it.
pub fn request_realtime() -> Granted {
    let mut granted = Granted::default();
    if let Err(e) = prctl::set_timerslack(1) {
        granted.refused.push(format!("timers stay coarse: {e}"));
    }
    if let Err(e) = mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE) {
        granted
            .refused
            .push(format!("memory may be paged out: {e}; {MEMORY_ADVICE}"));
    }
    let parameter = libc::sched_param {
        sched_priority: FIFO_PRIORITY,
    };
    // SAFETY: the parameter lives through the call.
    granted.fifo = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) } == 0;
    if !granted.fifo {
        let e = io::Error::last_os_error();
        granted.refused.push(format!(
            "no real-time scheduling, packets may be late: {e}; {FIFO_ADVICE}"
        ));
    }
    granted
}
