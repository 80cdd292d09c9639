// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A floor is a rate: while a process and what it starts, or a cgroup, have less together, they do not yield
//! (`algorithms/siblings/group.h`). A process asks for one before it becomes nice; afterwards that takes root.

use std::fmt::{self, Display, Formatter};
use std::os::unix::fs::MetadataExt;
use std::str::FromStr;
use std::thread::sleep;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags};
use netnice_units::{Rate, UnitError};
use rustix::time::{clock_gettime, ClockId};
use serde::{Serialize, Serializer};

use crate::cgroup::Hierarchy;
use crate::niceness::{self, Refusal};
use crate::shared::{
    floor, nn_floor_verb, nn_group, ATTACHED_FLOOR, NN_FLOOR_ASK, NN_FLOOR_BEGIN, NN_FLOOR_BITS, NN_FLOOR_FILE,
    NN_FLOOR_GIVE, NN_FLOOR_MOST, NN_GROUP_SHIFT,
};
use crate::{pins, Error, Result};

const MOST: u32 = NN_FLOOR_MOST as u32;

/// What connections have together at least, in each direction: 1 kbit/s to 268 Gbit/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Floor(u32);

impl Floor {
    /// Of a rate, down to whole kbit/s.
    ///
    /// # Errors
    /// What a floor can be, where the rate is none.
    pub fn new(rate: Rate) -> std::result::Result<Self, String> {
        let kbits = u32::try_from(rate.bits() / 1_000).unwrap_or(u32::MAX);
        match kbits {
            1..=MOST => Ok(Self(kbits)),
            _ => Err("a floor is 1kbit to 268gbit".to_owned()),
        }
    }

    pub(crate) fn of_kbits(kbits: u32) -> Option<Self> {
        (kbits > 0).then_some(Self(kbits))
    }

    /// Bits a second.
    pub fn bits(self) -> u64 {
        u64::from(self.0) * 1_000
    }

    pub(crate) fn kbits(self) -> u32 {
        self.0
    }

    /// This process has it, and what it will start; it is not nice yet.
    ///
    /// # Errors
    /// It is nice already, and does not belong to root.
    pub fn ask(self) -> Result<(), Refusal> {
        call(NN_FLOOR_BEGIN, self.0).map(|_| ())
    }
}

impl FromStr for Floor {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let rate: Rate = text.parse().map_err(|why: UnitError| why.to_string())?;
        Self::new(rate)
    }
}

impl Display for Floor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match Rate::from_bits(u64::from(self.0) * 1_000) {
            Some(rate) => rate.fmt(f),
            None => f.write_str("0"),
        }
    }
}

impl Serialize for Floor {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.serialize_u64(u64::from(self.0) * 1_000)
    }
}

/// Another process gets the floor that this one has.
pub fn give(pid: u32) -> Result<(), Refusal> {
    call(NN_FLOOR_GIVE, pid).map(|_| ())
}

/// That of a process, by the number that this one knows it by: within an eighth, as the answer is a byte.
pub fn of(pid: u32) -> Option<Floor> {
    let code = call(NN_FLOOR_ASK, pid).ok().filter(|code| *code > 0)? - 1;
    Floor::of_kbits((8 + (code & 7)) << (code >> 3) >> 3)
}

fn call(verb: nn_floor_verb, number: u32) -> Result<u32, Refusal> {
    let offset = 1 << 30 | u64::from(verb) << NN_FLOOR_BITS | u64::from(number);
    niceness::call(NN_FLOOR_FILE, offset)
}

/// A floor, and what its connections have at present, bit/s.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Had {
    pub at_least: Floor,
    pub sends: u64,
    pub receives: u64,
}

/// What a process has, without what its cgroups have; `None` without root.
pub fn kept(pid: u32) -> Option<Floor> {
    let number = of_process(pid)?;
    let value = pins::map(&pins::floors())?.lookup(&number, MapFlags::ANY).ok()??;
    Floor::of_kbits(u32::from_ne_bytes(*value.first_chunk()?))
}

/// A floor of processes, by their numbers in the first namespace.
#[derive(Debug, Clone, Serialize)]
pub struct Together {
    pub at_least: Floor,
    pub processes: Vec<u32>,
}

/// All that processes have, without those of cgroups; none without root.
pub fn all() -> Vec<Together> {
    let [floors, processes] = entries();
    let mut all: Vec<Together> = floors
        .iter()
        .filter_map(|(number, value)| {
            let rate = u32::from_ne_bytes(*value.first_chunk()?);
            let of = |(pid, own): &(Vec<u8>, Vec<u8>)| {
                let pid = u32::from_ne_bytes(*pid.first_chunk()?);
                (own == number).then_some(pid)
            };
            let mut processes: Vec<u32> = processes.iter().filter_map(of).collect();
            processes.sort_unstable();
            let at_least = Floor::of_kbits(rate)?;
            (!processes.is_empty()).then_some(Together { at_least, processes })
        })
        .collect();
    all.sort_unstable_by_key(|one| one.processes.first().copied());
    all
}

/// The floor of sockets that a process opens from now on, and what its connections have at present. `None` without root,
/// and where there is none. Takes up to half a second.
pub fn had_by(pid: u32) -> Option<Had> {
    match number_of(pid) {
        0 => None,
        number => had(number),
    }
}

/// Half a turn at least has to be over.
fn had(number: u64) -> Option<Had> {
    const HALF: u32 = 1 << (NN_GROUP_SHIFT - 1);
    let passed = now_us() & (2 * HALF - 1);
    sleep(Duration::from_micros(HALF.saturating_sub(passed).into()));
    let map = pins::map(&pins::floors())?;
    let bytes = map.lookup(&number.to_ne_bytes(), MapFlags::ANY).ok()??;
    let bytes = bytes.get(..size_of::<floor>())?;
    // SAFETY: as many bytes as the structure has, of integers; they need not be aligned.
    let found: floor = unsafe { bytes.as_ptr().cast::<floor>().read_unaligned() };
    Some(Had {
        at_least: Floor::of_kbits(found.rate)?,
        sends: rate(&found.sends, now_us()),
        receives: rate(&found.receives, now_us()),
    })
}

/// The clock of TCP: microseconds, which wrap.
fn now_us() -> u32 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000) as u32
}

/// Bit/s in the turn at hand.
fn rate(group: &nn_group, now_us: u32) -> u64 {
    let passed = now_us.wrapping_sub(group.turn << NN_GROUP_SHIFT);
    match passed >> NN_GROUP_SHIFT {
        0 => group.bytes * 8_000_000 / u64::from(passed.max(1)),
        _ => 0,
    }
}

/// The number of the floor that new sockets of a process have; 0: none, or this is not root. The innermost cgroup that is
/// attached says it, else the process.
pub(crate) fn number_of(pid: u32) -> u64 {
    of_cgroups(pid).unwrap_or_else(|| of_process(pid).map_or(0, u64::from_ne_bytes))
}

fn of_cgroups(pid: u32) -> Option<u64> {
    let (hierarchy, map) = (Hierarchy::find().ok()?, pins::map(&pins::attached())?);
    let cgroup = hierarchy.cgroup_of(pid)?;
    let mut above = cgroup.ancestors().take_while(|dir| dir.starts_with(hierarchy.root()));
    above.find_map(|dir| {
        let id = dir.metadata().ok()?.ino();
        let found = map.lookup(&id.to_ne_bytes(), MapFlags::ANY).ok()??;
        let bits = u32::from_ne_bytes(*found.first_chunk()?);
        niceness::group(bits).map(|_| u64::from(bits & ATTACHED_FLOOR != 0) * id)
    })
}

fn of_process(pid: u32) -> Option<[u8; 8]> {
    let map = pins::map(&pins::floored())?;
    map.lookup(&pid.to_ne_bytes(), MapFlags::ANY).ok()??.try_into().ok()
}

/// A cgroup has a floor of its own, or none: by its id.
pub(crate) fn put(cgroup: u64, wanted: Option<Floor>) -> Result<()> {
    let map = pins::map(&pins::floors()).ok_or(Error::NotUp("attach to"))?;
    let Some(wanted) = wanted else {
        let _ = map.delete(&cgroup.to_ne_bytes());
        return Ok(());
    };
    let one = floor {
        rate: wanted.kbits(),
        members: 1,
        ..Default::default()
    };
    // SAFETY: a structure of integers without gaps, as many bytes as it has.
    let bytes: [u8; size_of::<floor>()] = unsafe { std::mem::transmute(one) };
    map.update(&cgroup.to_ne_bytes(), &bytes, MapFlags::ANY)
        .map_err(Error::bpf("give a cgroup a floor"))
}

/// What the maps have, as the kernel has it: numbers with rates, and processes with numbers.
pub(crate) type Entries = [Vec<(Vec<u8>, Vec<u8>)>; 2];

pub(crate) fn entries() -> Entries {
    [pins::floors(), pins::floored()].map(|pin| {
        let Some(map) = pins::map(&pin) else {
            return Vec::new();
        };
        let value = |key: &[u8]| map.lookup(key, MapFlags::ANY).ok()?;
        map.keys()
            .filter_map(|key| value(&key).map(|found| (key, found)))
            .collect()
    })
}

/// Puts back what was there before a repair. What has ended meanwhile stays until 'down', and nothing uses it.
pub(crate) fn restore(kept: &Entries) {
    for (pin, entries) in [pins::floors(), pins::floored()].iter().zip(kept) {
        let Some(map) = pins::map(pin).filter(|_| !entries.is_empty()) else {
            continue;
        };
        for (key, value) in entries {
            let _ = map.update(key, value, MapFlags::ANY); // one of the same size had room for all of them
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_whole_kilobits() {
        let floor = |text: &str| Floor::new(text.parse().expect("a rate"));
        assert_eq!(floor("5mbit"), Ok(Floor(5_000)));
        assert_eq!(floor("5mbit").expect("a floor").to_string(), "5mbit");
        for text in ["999bit", "300gbit"] {
            assert!(floor(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_delivered_in_the_turn_counts() {
        let group = nn_group {
            turn: 7,
            bytes: 125_000,
            ..Default::default()
        };
        let begins = 7 << NN_GROUP_SHIFT;
        assert_eq!(rate(&group, begins + 1_000_000), 1_000_000);
        assert_eq!(rate(&group, begins + 2_000_000), 0);
    }
}
