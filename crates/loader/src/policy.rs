// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The sockops program, loaded once per cgroup with that cgroup's choices in its read-only data.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::Serialize;

use crate::cgroup::{Group, Hierarchy};
use crate::{libbpf, pins, Error, Result, Step};

#[allow(clippy::all, dead_code, non_camel_case_types, non_snake_case)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/policy.skel.rs"));
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

impl Counters {
    const FIELDS: usize = 6;

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut word = bytes
            .chunks_exact(8)
            .map(|b| u64::from_ne_bytes(b.try_into().unwrap_or_default()));
        let mut field = || word.next();
        (bytes.len() >= Self::FIELDS * 8).then_some(())?;
        Some(Self {
            active: field()?,
            passive: field()?,
            cc_failed: field()?,
            marked: field()?,
            mark_failed: field()?,
            mapped_unmarked: field()?,
        })
    }

    /// Reads them from the pinned map; `None` when it cannot be read.
    pub fn read(group: Group) -> Option<Self> {
        let map = MapHandle::from_pinned_path(pins::counters(&group.name())).ok()?;
        Self::decode(&map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??)
    }
}

pub(crate) fn attach(
    hierarchy: &Hierarchy,
    group: Group,
    mark: bool,
    on_step: &mut dyn FnMut(Step),
) -> Result<()> {
    libbpf::quiet();
    let dir = hierarchy.dir(group);
    let cgroup = File::open(&dir).map_err(Error::file("open the cgroup", &dir))?;
    let mut storage = MaybeUninit::uninit();
    let mut open = skeleton::PolicySkelBuilder::default()
        .open(&mut storage)
        .map_err(Error::bpf("open the policy object"))?;
    if let Some(rodata) = open.maps.rodata_data.as_deref_mut() {
        rodata.mark_le = mark;
        let name = group.congestion_control();
        rodata.cc_name = std::array::from_fn(|i| name.as_bytes().get(i).map_or(0, |b| *b as _));
    }
    let moved = pins::moved();
    if moved.exists() {
        open.maps
            .moved
            .reuse_pinned_map(&moved)
            .map_err(Error::bpf("share the map of moved sockets"))?;
    }
    let mut policy = open.load().map_err(Error::bpf("load the policy program"))?;
    let what = || format!("attach the policy to {}", dir.display());
    let mut link = policy
        .progs
        .policy
        .attach_cgroup(cgroup.as_raw_fd())
        .map_err(Error::bpf(what()))?;
    on_step(Step::PolicyAttached);
    if !moved.exists() {
        policy
            .maps
            .moved
            .pin(&moved)
            .map_err(Error::bpf("pin the map of moved sockets"))?;
    }
    link.pin(pins::policy_link(&group.name()))
        .map_err(Error::bpf("pin the policy"))?;
    on_step(Step::PolicyPinned);
    policy
        .maps
        .bss
        .pin(pins::counters(&group.name()))
        .map_err(Error::bpf("pin the counters"))?;
    on_step(Step::CountersPinned);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_in_order() {
        let bytes: Vec<u8> = (1..=6u64).flat_map(u64::to_ne_bytes).collect();
        let counters = Counters::decode(&bytes).expect("long enough");
        assert_eq!((counters.active, counters.mapped_unmarked), (1, 6));
        assert_eq!(Counters::decode(&bytes[..40]), None);
    }
}
