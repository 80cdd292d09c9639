// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The sockops program: loaded once, attached to every cgroup that sends, with each one's choices as data of that cgroup.

use std::fs::File;
use std::os::fd::AsRawFd;

use libbpf_rs::{MapCore, MapFlags, MapHandle, Object};
use serde::Serialize;

use crate::cgroup::Hierarchy;
use crate::group::Group;
use crate::shared::{policy_counters, policy_group};
use crate::{object, pins, Error, Result, Step};

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/policy.bpf.o"));
const PROGRAM: &str = "policy";

/// The loaded program, until all that it should be attached to has it.
pub(crate) struct Policy {
    object: Object,
    groups: MapHandle,
}

impl Policy {
    /// Loads it and pins its maps.
    pub(crate) fn load() -> Result<Self> {
        let (before, groups, moved) = (pins::before(), pins::groups(), pins::moved());
        let own = [("groups", &*groups), ("moved", &*moved)];
        let object = object::open("the policy", OBJECT, &[("before", &before)], &own)?
            .load()
            .map_err(Error::bpf("load the eBPF program of the policy"))?;
        let groups = MapHandle::from_pinned_path(pins::groups()).map_err(Error::bpf("open the map of the cgroups"))?;
        Ok(Self { object, groups })
    }

    /// Gives the connections of the group's cgroup to it, from now on.
    pub(crate) fn attach(
        &mut self,
        hierarchy: &Hierarchy,
        group: Group,
        mark: bool,
        on_step: &mut dyn FnMut(Step),
    ) -> Result<()> {
        let dir = hierarchy.dir(group);
        let cgroup = File::open(&dir).map_err(Error::file("open the cgroup", &dir))?;
        let mut programs = self.object.progs_mut();
        let mut link = programs
            .find(|program| program.name() == PROGRAM)
            .expect("the object has its program")
            .attach_cgroup(cgroup.as_raw_fd())
            .map_err(Error::bpf(format!("attach the policy to {}", dir.display())))?;
        on_step(Step::PolicyAttached);
        // The kernel makes room for a cgroup's data when the program is attached, not before.
        let choices = encode(&group.congestion_control(), mark);
        self.groups
            .update(&key(hierarchy, group), &choices, MapFlags::EXIST)
            .map_err(Error::bpf("write the choices of a cgroup"))?;
        link.pin(pins::policy_link(&group.name()))
            .map_err(Error::bpf("pin the policy"))?;
        on_step(Step::PolicyPinned);
        Ok(())
    }
}

/// What the program saw in one cgroup since it was loaded; as struct policy_counters has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    pub active: u64,
    pub passive: u64,
    pub cc_failed: u64,
    pub marked: u64,
    pub mark_failed: u64,
    pub mapped_unmarked: u64,
}

/// Of every cgroup.
pub(crate) struct AllCounters(Option<MapHandle>);

impl AllCounters {
    pub(crate) fn open() -> Self {
        Self(pins::map(&pins::groups()))
    }

    /// `None` where they may not be read, or nothing is counted.
    pub(crate) fn of(&self, hierarchy: &Hierarchy, group: Group) -> Option<Counters> {
        let found = self.0.as_ref()?.lookup(&key(hierarchy, group), MapFlags::ANY);
        decode(&found.ok()??)
    }
}

/// That of a cgroup that does not exist is in no map.
fn key(hierarchy: &Hierarchy, group: Group) -> [u8; 8] {
    hierarchy.id(group).unwrap_or_default().to_ne_bytes()
}

fn encode(congestion_control: &str, mark: bool) -> [u8; size_of::<policy_group>()] {
    let mut group = policy_group {
        mark_le: mark.into(),
        ..Default::default()
    };
    // The last byte stays the zero that ends it.
    let room = group.cc_name.iter_mut().take(15);
    room.zip(congestion_control.bytes()).for_each(|(to, byte)| *to = byte);
    // SAFETY: a structure of integers without gaps, as many bytes as it has.
    unsafe { std::mem::transmute(group) }
}

fn decode(bytes: &[u8]) -> Option<Counters> {
    let bytes = bytes.get(..size_of::<policy_group>())?;
    // SAFETY: as many bytes as the structure has, of integers; they need not be aligned.
    let group: policy_group = unsafe { bytes.as_ptr().cast::<policy_group>().read_unaligned() };
    Some(counted(&group.counters))
}

pub(crate) fn counted(c: &policy_counters) -> Counters {
    Counters {
        active: c.active,
        passive: c.passive,
        cc_failed: c.cc_failed,
        marked: c.marked,
        mark_failed: c.mark_failed,
        mapped_unmarked: c.mapped_unmarked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choices_as_the_program_reads_them() {
        let bytes = encode("netnice1", true);
        assert_eq!(&bytes[..16], b"netnice1\0\0\0\0\0\0\0\0");
        assert_eq!(bytes[16..24], 1u64.to_ne_bytes());
        assert!(bytes[24..].iter().all(|byte| *byte == 0));
        assert_eq!(encode("a-name-that-is-too-long", false)[15..24], [0; 9]);
    }

    #[test]
    fn the_counters_in_order() {
        let mut bytes = encode("netnice", false);
        for (field, number) in bytes[24..].chunks_exact_mut(8).zip(1u64..) {
            field.copy_from_slice(&number.to_ne_bytes());
        }
        let counters = decode(&bytes).expect("long enough");
        assert_eq!((counters.active, counters.mapped_unmarked), (1, 6));
        assert_eq!(decode(&bytes[..71]), None);
    }
}
