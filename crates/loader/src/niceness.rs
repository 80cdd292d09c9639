// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The network niceness of processes: an attribute as nice(1) has it, which anybody may raise and children inherit.
//!
//! [`raise`] asks for it, by a call that needs no rights; the rest is root's.

mod call;
mod object;

use libbpf_rs::{MapCore, MapFlags};
use procfs::process::Process;
use serde::Serialize;

use crate::group::{Direction, Group, HIGHEST_LEVEL};
use crate::policy::Counters;
use crate::shared::{
    NN_NICENESS_LEVEL_0, NN_NICENESS_NO_QUIC, NN_NICENESS_RECEIVES, NN_NICENESS_SENDS,
    NN_NICENESS_UNMARKED,
};
use crate::{pins, Error, Result};

pub use call::{forgo_quic, of, own, raise, set, Refusal};
pub(crate) use object::{choices, choose, links, load, unload, Place};

/// How nice this process is, by its cgroup or by itself; `None` in the foreground.
pub fn current() -> Result<Option<Group>> {
    let found = Process::myself().and_then(|me| Group::of_process(&me));
    Ok(Group::nicer(found.map_err(Error::OwnGroup)?, own()))
}

/// What is known of all processes that are nice by themselves.
#[derive(Debug, Clone, Serialize)]
pub struct NicenessStatus {
    pub processes: Vec<NiceProcess>,
    /// Of their connections.
    pub counters: Counters,
    /// Processes that stayed in the foreground because there was no room for more.
    pub refused: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NiceProcess {
    pub pid: u32,
    #[serde(flatten)]
    pub group: Group,
}

/// `None` when it is not loaded or may not be read.
pub fn status() -> Option<NicenessStatus> {
    let (counters, refused) = object::counters()?;
    let mut processes: Vec<_> = entries()
        .into_iter()
        .filter_map(|(pid, bits)| group(bits).map(|group| NiceProcess { pid, group }))
        .collect();
    processes.sort_unstable_by_key(|process| process.pid);
    Some(NicenessStatus {
        processes,
        counters,
        refused,
    })
}

/// Processes and their bits.
pub(crate) fn entries() -> Vec<(u32, u32)> {
    let Some(map) = pins::map(&pins::processes()) else {
        return Vec::new();
    };
    let value = |key: &[u8]| map.lookup(key, MapFlags::ANY).ok().flatten();
    map.keys()
        .filter_map(|key| word(&key).zip(word(&value(&key)?)))
        .collect()
}

fn word(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_ne_bytes)
}

/// As enum nn_niceness_bit has it.
pub(crate) fn bits(group: Group) -> u32 {
    [
        (true, NN_NICENESS_LEVEL_0 << group.level),
        (group.direction.sends(), NN_NICENESS_SENDS),
        (group.direction.receives(), NN_NICENESS_RECEIVES),
        (!group.marked, NN_NICENESS_UNMARKED),
    ]
    .into_iter()
    .filter_map(|(is, bit)| is.then_some(bit))
    .sum()
}

/// The same for who may be asked to do without QUIC, too.
pub(crate) fn bits_with_quic(group: Group, without_quic: bool) -> u32 {
    bits(group) | if without_quic { NN_NICENESS_NO_QUIC } else { 0 }
}

/// The highest level counts; `None` is the foreground.
pub(crate) fn group(bits: u32) -> Option<Group> {
    let level = (0..=HIGHEST_LEVEL)
        .rev()
        .find(|level| bits & NN_NICENESS_LEVEL_0 << level != 0)?;
    let direction = match (
        bits & NN_NICENESS_SENDS != 0,
        bits & NN_NICENESS_RECEIVES != 0,
    ) {
        (true, false) => Direction::Send,
        (false, true) => Direction::Receive,
        _ => Direction::Both,
    };
    let marked = bits & NN_NICENESS_UNMARKED == 0;
    Some(Group::new(level, marked, direction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_bits_of_its_own() {
        for one in Group::all() {
            assert_eq!(group(bits(one)), Some(one));
        }
        assert_eq!(group(0), None);
        let added = bits(Group::new(0, true, Direction::Send))
            | bits(Group::new(2, true, Direction::Receive));
        assert_eq!(group(added), Some(Group::new(2, true, Direction::Both)));
    }
}
