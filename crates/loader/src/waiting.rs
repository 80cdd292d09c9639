// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! How a process waits for a moment of a clock, and leaves what its caller left open.

use std::fs;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::time::Duration;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::time::{timerfd_create, timerfd_settime, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};

/// Of the wall clock, at a second since 1970, however the clock is set.
pub fn wall_timer(second: i64) -> io::Result<OwnedFd> {
    timer(TimerfdClockId::Realtime, second, TimerfdTimerFlags::ABSTIME)
}

/// The same, and due too when the clock is set.
pub fn wall_timer_or_step(second: i64) -> io::Result<OwnedFd> {
    let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
    timer(TimerfdClockId::Realtime, second, flags)
}

/// After so many seconds, suspended or not.
pub fn boot_timer(seconds: u32) -> io::Result<OwnedFd> {
    timer(TimerfdClockId::Boottime, seconds.into(), TimerfdTimerFlags::empty())
}

fn timer(clock: TimerfdClockId, second: i64, flags: TimerfdTimerFlags) -> io::Result<OwnedFd> {
    let timer = timerfd_create(clock, TimerfdFlags::CLOEXEC)?;
    let at = |tv_sec| Timespec { tv_sec, tv_nsec: 0 };
    let once = Itimerspec {
        it_interval: at(0),
        it_value: at(second),
    };
    timerfd_settime(&timer, flags, &once)?;
    Ok(timer)
}

/// Is the timer due first? Else the program has ended, or the pause.
pub fn is_first(timer: &OwnedFd, program: Option<&OwnedFd>, pause: Option<Duration>) -> io::Result<bool> {
    let pause = pause.map(|pause| Timespec::try_from(pause).expect("a minute at most"));
    let mut files = vec![PollFd::new(timer, PollFlags::IN)];
    files.extend(program.map(|program| PollFd::new(program, PollFlags::IN)));
    loop {
        match poll(&mut files, pause.as_ref()) {
            Err(Errno::INTR) => (),
            done => {
                done?;
                return Ok(!files[0].revents().is_empty());
            }
        }
    }
}

/// None of the files that the caller left open, locks and pipes among them, stays open.
pub fn leave_files() -> io::Result<()> {
    let numbers = fs::read_dir("/proc/self/fd")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let numbers: Vec<RawFd> = numbers.collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // SAFETY: nothing here uses a file of these numbers afterwards; that of the folder is closed already.
        unsafe { rustix::io::close(number) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::process::{getpid, pidfd_open, PidfdFlags};

    use super::*;

    #[test]
    fn whichever_is_first() {
        let me = pidfd_open(getpid(), PidfdFlags::empty()).expect("a descriptor");
        let soon = boot_timer(1).expect("a timer");
        assert!(is_first(&soon, Some(&me), None).expect("it waits"));
        let late = boot_timer(600).expect("a timer");
        assert!(!is_first(&late, None, Some(Duration::from_millis(1))).expect("it waits"));
        let over = wall_timer(1).expect("a timer");
        assert!(is_first(&over, Some(&me), None).expect("it waits"), "it is over");
    }
}
