// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Cgroups in the background: a unit, a session or a container stays where it is, with its limits, and all that runs in
//! it yields.
//!
//! They are kept by id, which every new TCP socket asks for; what runs already is switched, socket by socket. An entry
//! goes with its cgroup.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::Serialize;

use crate::cgroup::Hierarchy;
use crate::facts::privileged;
use crate::floor::{self, Floor};
use crate::group::Group;
use crate::live::{switch, Switched, Target};
use crate::lock::Lock;
use crate::settings::State;
use crate::shared::{
    niceness_choices, ATTACHED_BY_RULE, ATTACHED_FLOOR, ATTACHED_PENDING, NICENESS_DEPTHS, NN_NICENESS_NO_QUIC,
};
use crate::{niceness, pins, quic, Error, Result};

/// So many below the root sockets look.
pub(crate) const DEPTHS: usize = NICENESS_DEPTHS as usize;

/// A cgroup, and how nice all is that is in it and below.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attachment {
    /// Below the root of the cgroups.
    pub cgroup: PathBuf,
    /// A rule of the policy says so, and not an administrator by hand.
    pub by_rule: bool,
    /// It does without QUIC, so that it uses TCP, which yields.
    pub without_quic: bool,
    #[serde(flatten)]
    pub group: Group,
}

/// All that is in the cgroup, and will be, yields: at this level or at a nicer one of its own.
pub fn attach(cgroup: &Path, group: Group, without_quic: bool, at_least: Option<Floor>) -> Result<SwitchCounts> {
    let map = open("attach to")?;
    let hierarchy = Hierarchy::find()?;
    if without_quic {
        quic::refuse()?;
    }
    {
        let _lock = Lock::take()?;
        if hierarchy.depth(cgroup) >= DEPTHS {
            return Err(Error::NotAttachable(cgroup.to_owned()));
        }
        let id = id(cgroup)?;
        floor::put(id, at_least)?;
        let bits = niceness::bits_with_quic(group, without_quic) | floor_bit(at_least);
        put(&map, id, bits | ATTACHED_PENDING)?;
        look(&hierarchy)?;
    } // what follows may need it itself
    finish(&map, &hierarchy, cgroup)
}

/// Of an entry with this floor.
pub(crate) fn floor_bit(at_least: Option<Floor>) -> u32 {
    at_least.map_or(0, |_| ATTACHED_FLOOR)
}

/// It is attached no longer: what runs in it is as nice as it is by itself. `None` when it was not attached.
pub fn detach(cgroup: &Path) -> Result<Option<SwitchCounts>> {
    let map = open("detach from")?;
    let hierarchy = Hierarchy::find()?;
    {
        let _lock = Lock::take()?;
        let id = id(cgroup)?;
        if bits(&map, id).is_none() {
            return Ok(None);
        }
        put(&map, id, ATTACHED_PENDING)?;
        floor::put(id, None)?;
    } // what follows may need it itself
    finish(&map, &hierarchy, cgroup).map(Some)
}

/// Makes what runs in the cgroup as its entry has it. A command that is ended before leaves an entry that says so, and
/// the next command does it ([`finish_all`]).
pub(crate) fn finish(map: &MapHandle, hierarchy: &Hierarchy, cgroup: &Path) -> Result<SwitchCounts> {
    let Ok(id) = id(cgroup) else {
        return Ok(SwitchCounts::default()); // it has ended
    };
    let entry = bits(map, id);
    let counts = switch_members(hierarchy, cgroup);
    let _lock = Lock::take()?;
    let Some(entry) = entry.filter(|entry| bits(map, id) == Some(*entry)) else {
        return Ok(counts); // another command has changed the entry meanwhile
    };
    match niceness::group(entry) {
        Some(_) => put(map, id, entry & !ATTACHED_PENDING)?,
        None => drop(map.delete(&id.to_ne_bytes())), // or it has ended
    }
    Ok(counts)
}

/// What a command began, and was ended before it was done.
pub(crate) fn finish_all() -> Result<()> {
    let pending = |bits: &u32| bits & ATTACHED_PENDING != 0;
    let entries = entries();
    let Some(map) = pins::map(&pins::attached()).filter(|_| entries.values().any(pending)) else {
        return Ok(());
    };
    let hierarchy = Hierarchy::find()?;
    for cgroup in hierarchy.cgroups() {
        let entry = id(&cgroup).ok().and_then(|id| entries.get(&id));
        if entry.is_some_and(pending) {
            finish(&map, &hierarchy, &cgroup)?;
        }
    }
    Ok(())
}

fn bits(map: &MapHandle, id: u64) -> Option<u32> {
    let value = map.lookup(&id.to_ne_bytes(), MapFlags::ANY).ok()??;
    Some(u32::from_ne_bytes(value.try_into().ok()?))
}

/// All, by path. Empty where they may not be read.
pub fn all() -> Vec<Attachment> {
    let entries = entries();
    let Some(hierarchy) = Hierarchy::find().ok().filter(|_| !entries.is_empty()) else {
        return Vec::new();
    };
    let bits = |cgroup: &Path| entries.get(&id(cgroup).ok()?).copied();
    hierarchy
        .cgroups()
        .filter_map(|cgroup| attachment(&hierarchy, &cgroup, bits(&cgroup)?))
        .collect()
}

/// How nice processes are, in whatever way: by themselves, by a cgroup of netnice, by those that are attached.
pub struct InEffect {
    hierarchy: Option<Hierarchy>,
    entries: HashMap<u64, u32>,
}

impl InEffect {
    /// What is attached is read now, and for all of them.
    pub fn read() -> Self {
        Self {
            hierarchy: Hierarchy::find().ok(),
            entries: entries(),
        }
    }

    pub fn of(&self, pid: u32) -> Option<Group> {
        let own = niceness::of(pid);
        let Some(hierarchy) = &self.hierarchy else {
            return own;
        };
        let cgroup = hierarchy.cgroup_of(pid);
        let of_ours = cgroup.and_then(|dir| Group::of_path(&dir.to_string_lossy()));
        [own, of_ours, of(hierarchy, &self.entries, pid)]
            .into_iter()
            .fold(None, Group::nicer)
    }
}

/// How nice a process is, in whatever way.
pub fn in_effect(pid: u32) -> Option<Group> {
    InEffect::read().of(pid)
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

/// Puts back what was there before a repair, of cgroups that are still there.
pub(crate) fn restore(kept: &HashMap<u64, u32>) {
    let Some(map) = pins::map(&pins::attached()).filter(|_| !kept.is_empty()) else {
        return;
    };
    let Ok(hierarchy) = Hierarchy::find() else {
        return;
    };
    for id in hierarchy.cgroups().filter_map(|cgroup| id(&cgroup).ok()) {
        if let Some(bits) = kept.get(&id) {
            let _ = put(&map, id, *bits); // one of the same size had room for all of them
        }
    }
    let _ = look(&hierarchy); // just loaded: it is there
}

/// Has sockets ask for the cgroups that they are made in, at the depths where some are attached. A cgroup that is made
/// meanwhile, and that a rule names, may add a depth: the writer looks again.
pub(crate) fn look(hierarchy: &Hierarchy) -> Result<()> {
    loop {
        let depths = depths(hierarchy);
        let now = niceness::choices().ok_or(Error::NotUp("attach to"))?;
        if now.depths == depths {
            return Ok(());
        }
        niceness::choose(niceness_choices { depths, ..now })?;
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

pub(crate) fn open(what: &'static str) -> Result<MapHandle> {
    if !privileged() {
        return Err(Error::NotRoot("attach a cgroup"));
    }
    State::read().ok_or(Error::NotUp(what))?;
    pins::map(&pins::attached()).ok_or(Error::RootIsTaken)
}

pub(crate) fn put(map: &MapHandle, id: u64, bits: u32) -> Result<()> {
    map.update(&id.to_ne_bytes(), &bits.to_ne_bytes(), MapFlags::ANY)
        .map_err(Error::bpf("attach the cgroup"))
}

/// As the kernel gives it to BPF.
pub(crate) fn id(cgroup: &Path) -> Result<u64> {
    let found = cgroup.metadata().map_err(Error::file("look at", cgroup))?;
    Ok(found.ino())
}

fn of(hierarchy: &Hierarchy, entries: &HashMap<u64, u32>, pid: u32) -> Option<Group> {
    let cgroup = hierarchy.cgroup_of(pid)?;
    holding(hierarchy, entries, &cgroup)
        .map(|attachment| Some(attachment.group))
        .fold(None, Group::nicer)
}

/// The cgroup, and those that it is in, as far as they are attached; the innermost first.
pub fn above(hierarchy: &Hierarchy, cgroup: &Path) -> Vec<Attachment> {
    holding(hierarchy, &entries(), cgroup).collect()
}

fn holding<'a>(
    hierarchy: &'a Hierarchy,
    entries: &'a HashMap<u64, u32>,
    cgroup: &'a Path,
) -> impl Iterator<Item = Attachment> + 'a {
    cgroup
        .ancestors()
        .take_while(|dir| dir.starts_with(hierarchy.root()))
        .filter_map(|dir| attachment(hierarchy, dir, *entries.get(&id(dir).ok()?)?))
}

/// `None`: its bits say nothing.
fn attachment(hierarchy: &Hierarchy, cgroup: &Path, bits: u32) -> Option<Attachment> {
    Some(Attachment {
        cgroup: hierarchy.below_root(cgroup),
        by_rule: bits & ATTACHED_BY_RULE != 0,
        without_quic: bits & NN_NICENESS_NO_QUIC != 0,
        group: niceness::group(bits)?,
    })
}

/// Every socket of all that runs in the cgroup becomes what its process is now.
pub(crate) fn switch_members(hierarchy: &Hierarchy, cgroup: &Path) -> SwitchCounts {
    let mut counts = SwitchCounts::default();
    let entries = entries();
    for pid in hierarchy.members_of(cgroup) {
        let group = Group::nicer(niceness::of(pid), of(hierarchy, &entries, pid));
        counts.add(SwitchCounts::of(pid, switch(pid, &Target::of(group))));
    }
    counts
}

#[derive(Debug, Default)]
pub struct SwitchCounts {
    pub processes: usize,
    /// Connections and listening sockets that are as asked now.
    pub sockets: usize,
    /// Those that are not, and the last reason.
    pub missed: usize,
    pub reason: Option<String>,
}

impl SwitchCounts {
    /// Of one process.
    pub(crate) fn of(pid: u32, switched: Result<Switched>) -> Self {
        match switched {
            Ok(done) => {
                let refused = done.reason.map(|why| why.to_string());
                let unadopted = done.unadopted_reason.map(|why| why.to_string());
                Self {
                    processes: 1,
                    sockets: done.sockets,
                    missed: done.refused + done.unadopted,
                    reason: refused.or(unadopted),
                }
            }
            Err(_) if !Path::new(&format!("/proc/{pid}")).exists() => Self::default(), // it has ended
            Err(why) => Self::missed(why.to_string()),
        }
    }

    pub(crate) fn missed(reason: String) -> Self {
        Self {
            missed: 1,
            reason: Some(reason),
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.processes += other.processes;
        self.sockets += other.sockets;
        self.missed += other.missed;
        self.reason = other.reason.or(self.reason.take());
    }

    /// What to say of the sockets that are not as asked.
    pub fn why(&self) -> Option<String> {
        let reason = self.reason.as_ref()?;
        let missed = self.missed;
        Some(format!("could not change {missed} open sockets: {reason}"))
    }
}

impl Display for SwitchCounts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (processes, sockets) = (self.processes, self.sockets);
        write!(f, "processes: {processes}, their TCP sockets: {sockets}")
    }
}
