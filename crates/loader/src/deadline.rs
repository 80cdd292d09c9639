// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Niceness that ends (`algorithms/niceness/deadline.h`): a process asks for a deadline, and what it raises next ends
//! then. New sockets are compared with the clock in the kernel; [`crate::settling`] does the live ones.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use libbpf_rs::{MapCore, MapFlags};
use rustix::time::{clock_gettime_dynamic, ClockId, DynamicClockId};
use serde::{Serialize, Serializer};

use crate::group::Group;
use crate::niceness::{self, Refusal};
use crate::pins;
use crate::shared::{
    nn_deadline, nn_deadline_verb, timed, NN_DEADLINE_AHEAD, NN_DEADLINE_ASK, NN_DEADLINE_AT, NN_DEADLINE_BITS,
    NN_DEADLINE_FILE, NN_DEADLINE_GIVE, NN_DEADLINE_IN, NN_DEADLINE_MOST, NN_DEADLINE_PASSED,
};

const SECOND: i128 = 1_000_000_000;

/// When niceness ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// By the wall clock: seconds since 1970. It follows each step of the clock.
    At(i64),
    /// So many seconds from when it is asked for, suspended or not.
    In(u32),
}

impl Deadline {
    /// The farthest: about four years.
    pub const MOST: Duration = Duration::from_secs(NN_DEADLINE_MOST as u64);

    /// That of the process that calls: what it raises next ends then, also for what it will start.
    pub fn ask(self) -> Result<(), Refusal> {
        let (verb, number) = match self {
            Self::At(second) => (NN_DEADLINE_AT, last_bits(second + tai_offset())),
            Self::In(seconds) => (NN_DEADLINE_IN, seconds),
        };
        call(verb, number).map(|_| ())
    }
}

/// A process gets the deadline that this one has asked for: what it raises next ends then. It takes root.
pub(crate) fn give(pid: u32) -> Result<(), Refusal> {
    call(NN_DEADLINE_GIVE, pid).map(|_| ())
}

/// A moment of the wall clock as the kernel compares it: nanoseconds of CLOCK_TAI.
pub(crate) fn to_kernel(at: Timestamp) -> u64 {
    let nanoseconds = at.as_nanosecond() + i128::from(tai_offset()) * SECOND;
    u64::try_from(nanoseconds).unwrap_or_default()
}

/// As many as the call has room for.
fn last_bits(second: i64) -> u32 {
    (second & ((1 << NN_DEADLINE_BITS) - 1)) as u32
}

/// Seconds that CLOCK_TAI, which the kernel compares with, is ahead of CLOCK_REALTIME.
fn tai_offset() -> i64 {
    let ahead = now(DynamicClockId::Tai) - now(DynamicClockId::Known(ClockId::Realtime));
    ((ahead + SECOND / 2).div_euclid(SECOND)) as i64
}

/// Nanoseconds.
fn now(clock: DynamicClockId) -> i128 {
    let now = clock_gettime_dynamic(clock).expect("Linux has these clocks");
    i128::from(now.tv_sec) * SECOND + i128::from(now.tv_nsec)
}

/// Whether a process has a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    None,
    Ahead,
    Passed,
}

/// That of a process, by the number that this one knows it by; `None` where it cannot be asked.
pub fn state(pid: u32) -> Option<State> {
    Some(match call(NN_DEADLINE_ASK, pid).ok()? {
        NN_DEADLINE_AHEAD => State::Ahead,
        NN_DEADLINE_PASSED => State::Passed,
        _ => State::None,
    })
}

fn call(verb: nn_deadline_verb, number: u32) -> Result<u32, Refusal> {
    let offset = 1 << 30 | u64::from(verb) << NN_DEADLINE_BITS | u64::from(number);
    niceness::call(NN_DEADLINE_FILE, offset)
}

/// Until when a process yields more than it does afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    at: Timestamp,
}

impl Ending {
    /// By the kernel's record; `None`: that time is over.
    fn of(until: nn_deadline) -> Option<Self> {
        let left = |deadline: u64, clock| match deadline {
            0 => 0,
            _ => i128::from(deadline) - now(clock),
        };
        let left = left(until.boot, DynamicClockId::Boottime).max(left(until.wall, DynamicClockId::Tai));
        let left = SignedDuration::new((left / SECOND).try_into().ok()?, (left % SECOND) as i32);
        let at = Timestamp::now().checked_add(left).ok()?;
        left.is_positive().then_some(Self { at })
    }
}

impl Display for Ending {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.at.to_zoned_datetime(TimeZone::system()).strftime("%F %T"))
    }
}

impl Serialize for Ending {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// What of a process's niceness ends, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ends {
    #[serde(flatten)]
    pub group: Group,
    pub until: Ending,
}

/// Of a process in the first namespace of processes; `None` without root, and where nothing ends.
pub fn of(pid: u32) -> Option<Ends> {
    let map = pins::map(&pins::timed())?;
    let found = decode(&map.lookup(&pid.to_ne_bytes(), MapFlags::ANY).ok()??)?;
    Some(Ends {
        group: niceness::group(found.bits)?,
        until: Ending::of(found.until)?,
    })
}

/// A process, and what of its niceness ends.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct TimedProcess {
    pub pid: u32,
    #[serde(flatten)]
    pub ends: Ends,
}

/// All whose deadline is ahead; none without root.
pub fn all() -> Vec<TimedProcess> {
    let one = |(pid, _)| of(pid).map(|ends| TimedProcess { pid, ends });
    let mut all: Vec<_> = entries().into_iter().filter_map(one).collect();
    all.sort_unstable_by_key(|process| process.pid);
    all
}

/// Of all processes, as the kernel has it.
pub(crate) type Entries = Vec<(u32, timed)>;

pub(crate) fn entries() -> Entries {
    let Some(map) = pins::map(&pins::timed()) else {
        return Vec::new();
    };
    let value = |key: &[u8]| decode(&map.lookup(key, MapFlags::ANY).ok()??);
    let number = |key: &[u8]| key.try_into().ok().map(u32::from_ne_bytes);
    map.keys().filter_map(|key| number(&key).zip(value(&key))).collect()
}

/// Puts back what was there before a repair, of processes that still run.
pub(crate) fn restore(kept: &Entries) {
    let Some(map) = pins::map(&pins::timed()).filter(|_| !kept.is_empty()) else {
        return;
    };
    let runs = |pid: u32| std::path::Path::new(&format!("/proc/{pid}")).exists();
    for (pid, part) in kept.iter().filter(|(pid, _)| runs(*pid)) {
        // SAFETY: a structure of integers without gaps, as many bytes as it has.
        let bytes: [u8; size_of::<timed>()] = unsafe { std::mem::transmute(*part) };
        let _ = map.update(&pid.to_ne_bytes(), &bytes, MapFlags::ANY); // one of the same size had room for all of them
    }
}

fn decode(bytes: &[u8]) -> Option<timed> {
    let bytes = bytes.get(..size_of::<timed>())?;
    // SAFETY: as many bytes as the structure has, of integers; they need not be aligned.
    Some(unsafe { bytes.as_ptr().cast::<timed>().read_unaligned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_last_counts() {
        let [boot, wall] = [DynamicClockId::Boottime, DynamicClockId::Tai].map(|clock| now(clock) as u64);
        let ending = |boot, wall| Ending::of(nn_deadline { boot, wall });
        let minute = 60 * SECOND as u64;
        assert_eq!(ending(0, 0), None);
        assert_eq!(ending(boot - 1, wall - 1), None);
        for (boot, wall) in [(boot + minute, 0), (0, wall + minute), (boot + minute, wall - 1)] {
            let at = ending(boot, wall).expect("ahead").at;
            let left = at.as_second() - Timestamp::now().as_second();
            assert!((58..=60).contains(&left), "{left}");
        }
    }

    #[test]
    fn seconds_fit_the_call() {
        assert_eq!(last_bits(0x7fff_ffff), 0xfff_ffff);
        assert!(tai_offset() >= 0 && tai_offset() < 100);
    }
}
