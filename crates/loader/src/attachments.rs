// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Cgroups in the background: a unit, a session or a container stays where it is, with its limits, and all that runs in
//! it yields.
//!
//! They are kept by id, which every new TCP socket asks for; what runs already is switched, socket by socket. An entry
//! goes with its cgroup: ids are never used again, and whoever looks drops those that are gone.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use procfs::process::Process;
use serde::Serialize;

use crate::cgroup::Hierarchy;
use crate::facts::privileged;
use crate::group::Group;
use crate::live::{switch, Target};
use crate::lock::Lock;
use crate::niceness;
use crate::state::State;
use crate::{pins, Error, Result};

/// As many as have a bit of `niceness_choices.depths`: cgroups are hardly ever ten deep.
const DEPTHS: usize = 32;

/// A cgroup, and how nice all is that is in it and below.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attachment {
    /// Below the root of the cgroups.
    pub cgroup: PathBuf,
    #[serde(flatten)]
    pub group: Group,
}

/// What became of what runs in a cgroup.
#[derive(Debug, Default)]
pub struct Reached {
    pub processes: usize,
    /// Connections and listening sockets that are as asked now.
    pub sockets: usize,
    /// Those that are not, and the last reason.
    pub missed: usize,
    pub reason: Option<String>,
}

impl Display for Reached {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (processes, sockets) = (self.processes, self.sockets);
        write!(f, "processes: {processes}, their TCP sockets: {sockets}")
    }
}

impl Reached {
    /// What to say of the sockets that are not as asked.
    pub fn why(&self) -> Option<String> {
        let reason = self.reason.as_ref()?;
        let missed = self.missed;
        Some(format!(
            "{missed} sockets in use are as they were: {reason}"
        ))
    }
}

/// All that is in the cgroup, and will be, yields: at this level or at a nicer one of its own.
pub fn attach(cgroup: &Path, group: Group) -> Result<Reached> {
    let (map, state) = open("attach to")?;
    let hierarchy = Hierarchy::find()?;
    {
        let _lock = Lock::take()?;
        if hierarchy.depth(cgroup) >= DEPTHS {
            return Err(Error::NotAttachable(cgroup.to_owned()));
        }
        put(&map, id(cgroup)?, group)?;
        niceness::look_at(depths(&hierarchy), state.mark)?;
    } // what follows may need it itself
    Ok(reach(&hierarchy, cgroup))
}

/// It is attached no longer: what runs in it is as nice as it is by itself. `None` when it was not attached.
pub fn detach(cgroup: &Path) -> Result<Option<Reached>> {
    let (map, _) = open("detach from")?;
    let hierarchy = Hierarchy::find()?;
    let found = map.delete(&id(cgroup)?.to_ne_bytes()).is_ok();
    Ok(found.then(|| reach(&hierarchy, cgroup)))
}

/// Those that are still there, by path. Empty where they may not be read.
pub fn all() -> Vec<Attachment> {
    let entries = entries();
    let Some((map, hierarchy)) = pins::map(&pins::attached()).zip(Hierarchy::find().ok()) else {
        return Vec::new();
    };
    if entries.is_empty() {
        return Vec::new();
    }
    let found: Vec<_> = hierarchy
        .cgroups()
        .filter_map(|cgroup| {
            let group = niceness::group(*entries.get(&id(&cgroup).ok()?)?)?;
            Some((cgroup, group))
        })
        .collect();
    let there: Vec<_> = found
        .iter()
        .filter_map(|(cgroup, _)| id(cgroup).ok())
        .collect();
    for gone in entries.keys().filter(|id| !there.contains(id)) {
        let _ = map.delete(&gone.to_ne_bytes()); // another may have been quicker
    }
    found
        .into_iter()
        .map(|(cgroup, group)| Attachment {
            cgroup: hierarchy.below_root(&cgroup),
            group,
        })
        .collect()
}

/// What its cgroups have a process be.
pub fn of_process(pid: u32) -> Option<Group> {
    let entries = entries();
    let hierarchy = Hierarchy::find().ok()?;
    of(&hierarchy, &entries, pid)
}

/// Ids and bits.
pub(crate) fn entries() -> HashMap<u64, u32> {
    let Some(map) = pins::map(&pins::attached()) else {
        return HashMap::new();
    };
    map.keys()
        .filter_map(|key| {
            let value = map.lookup(&key, MapFlags::ANY).ok()??;
            let id = u64::from_ne_bytes(key.try_into().ok()?);
            Some((id, u32::from_ne_bytes(value.try_into().ok()?)))
        })
        .collect()
}

/// Puts back what was there before a repair.
pub(crate) fn restore(kept: &HashMap<u64, u32>, mark: bool) {
    let Some(map) = pins::map(&pins::attached()) else {
        return;
    };
    for (id, bits) in kept {
        // One of the same size had room for all of them.
        let _ = map.update(&id.to_ne_bytes(), &bits.to_ne_bytes(), MapFlags::ANY);
    }
    if let Some(hierarchy) = Hierarchy::find().ok().filter(|_| !kept.is_empty()) {
        let _ = niceness::look_at(depths(&hierarchy), mark); // just loaded: it is there
    }
}

/// At which cgroups are attached, a bit each.
fn depths(hierarchy: &Hierarchy) -> u32 {
    let entries = entries();
    hierarchy
        .cgroups()
        .filter(|cgroup| id(cgroup).is_ok_and(|id| entries.contains_key(&id)))
        .map(|cgroup| 1 << hierarchy.depth(&cgroup))
        .fold(0, std::ops::BitOr::bitor)
}

fn open(what: &'static str) -> Result<(MapHandle, State)> {
    if !privileged() {
        return Err(Error::NotRoot("attach a cgroup"));
    }
    let state = State::read().ok_or(Error::NotUp(what))?;
    let map = pins::map(&pins::attached()).ok_or(Error::RootIsTaken)?;
    Ok((map, state))
}

fn put(map: &MapHandle, id: u64, group: Group) -> Result<()> {
    let bits = niceness::bits(group);
    map.update(&id.to_ne_bytes(), &bits.to_ne_bytes(), MapFlags::ANY)
        .map_err(Error::bpf("attach the cgroup"))
}

/// As the kernel gives it to BPF.
fn id(cgroup: &Path) -> Result<u64> {
    let found = cgroup.metadata().map_err(Error::file("look at", cgroup))?;
    Ok(found.ino())
}

fn of(hierarchy: &Hierarchy, entries: &HashMap<u64, u32>, pid: u32) -> Option<Group> {
    let process = Process::new(i32::try_from(pid).ok()?).ok()?;
    let groups = process.cgroups().ok()?;
    let own = groups.into_iter().find(|group| group.hierarchy == 0)?;
    let cgroup = hierarchy.root().join(own.pathname.trim_start_matches('/'));
    cgroup
        .ancestors()
        .take_while(|dir| dir.starts_with(hierarchy.root()))
        .filter_map(|dir| niceness::group(*entries.get(&id(dir).ok()?)?))
        .map(Some)
        .fold(None, Group::nicer)
}

/// Every socket of all that runs in the cgroup becomes what its process is now.
fn reach(hierarchy: &Hierarchy, cgroup: &Path) -> Reached {
    let mut reached = Reached::default();
    let entries = entries();
    for pid in hierarchy.members_of(cgroup) {
        let group = Group::nicer(niceness::of(pid), of(hierarchy, &entries, pid));
        match switch(pid, &Target::of(group)) {
            Ok(done) => {
                reached.processes += 1;
                reached.sockets += done.sockets;
                reached.missed += done.refused + done.unadopted;
                let refused = done.reason.map(|why| why.to_string());
                let unadopted = done.unadopted_reason.map(|why| why.to_string());
                reached.reason = refused.or(unadopted).or(reached.reason);
            }
            Err(_) if !Path::new(&format!("/proc/{pid}")).exists() => {} // it has ended
            Err(why) => {
                reached.missed += 1;
                reached.reason = Some(why.to_string());
            }
        }
    }
    reached
}
