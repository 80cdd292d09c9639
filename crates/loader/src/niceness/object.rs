// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The object in the kernel: two trace points, and three programs at the root of the cgroups.

use std::fs::File;
use std::os::fd::AsRawFd;

use libbpf_rs::{Link, MapCore, MapFlags, ProgramMut};

use crate::cgroup::Hierarchy;
use crate::policy::{self, Counters};
use crate::shared::{niceness_choices, niceness_counters};
use crate::{object, pins, Error, Result};

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/niceness.bpf.o"));
/// Last the call: who is answered finds everything in place.
pub(super) const PROGRAMS: [(&str, Place); 8] = [
    ("netnice_fork", Place::Kernel),
    ("netnice_exit", Place::Kernel),
    ("netnice_exec", Place::Kernel),
    ("netnice_cgroup", Place::Kernel),
    ("netnice_removed", Place::Kernel),
    ("netnice_socket", Place::Root),
    ("netnice_opened", Place::Root),
    ("netnice_call", Place::Root),
];

/// What a program is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Kernel,
    /// Of the cgroups.
    Root,
}

/// Their names and where they belong.
pub(crate) fn links() -> impl Iterator<Item = (std::path::PathBuf, Place)> {
    PROGRAMS
        .into_iter()
        .map(|(name, place)| (pins::niceness_link(name), place))
}

/// Loads and attaches everything; the policy is loaded. `kept` are the bits of processes that were nice before. On
/// failure nothing stays.
pub(crate) fn load(hierarchy: &Hierarchy, marks: bool, kept: &[(u32, u32)]) -> Result<()> {
    let done = attach_all(hierarchy, marks, kept);
    if done.is_err() {
        unload()?;
    }
    done
}

pub(crate) fn unload() -> Result<()> {
    for (link, _) in links() {
        pins::remove_link(&link)?;
    }
    for map in [
        pins::processes(),
        pins::attached(),
        pins::rules(),
        pins::niceness_choices(),
        pins::niceness_counters(),
    ] {
        pins::remove_file(&map)?;
    }
    Ok(())
}

fn attach_all(hierarchy: &Hierarchy, marks: bool, kept: &[(u32, u32)]) -> Result<()> {
    let mut open = object::open(
        "the programs of niceness",
        OBJECT,
        &[("moved", &pins::moved())],
        &[
            ("processes", &pins::processes()),
            ("attached", &pins::attached()),
            ("rules", &pins::rules()),
            ("wishes", &pins::receiver_wishes()),
            (".bss", &pins::niceness_counters()),
            (".data", &pins::niceness_choices()),
        ],
    )?;
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        let Some(value) = map.initial_value_mut() else {
            continue;
        };
        if name.ends_with(".bss.known") {
            for (pid, _) in alive(kept) {
                note(value, *pid);
            }
        } else if name.ends_with(".data") {
            value.copy_from_slice(&bytes(niceness_choices {
                marks: marks.into(),
                ..Default::default()
            }));
        }
    }
    let root = File::open(hierarchy.root()).map_err(Error::file(
        "open the root of the cgroups",
        hierarchy.root(),
    ))?;
    let mut loaded = open
        .load()
        .map_err(Error::bpf("load the programs of niceness"))?;
    for (pid, bits) in alive(kept) {
        let processes = loaded.maps_mut().find(|map| map.name() == "processes");
        let processes = processes.expect("the object has a map of processes");
        let _ = update(&processes, *pid, *bits); // one of the same size had room for all of them
    }
    for (name, place) in PROGRAMS {
        let program = loaded.progs_mut().find(|program| program.name() == name);
        let program = program.expect("the object has the programs of its list");
        let mut link = attach(&program, place, &root)
            .map_err(Error::bpf(format!("attach '{name}' for everybody")))?;
        link.pin(pins::niceness_link(name))
            .map_err(Error::bpf("pin the programs of niceness"))?;
    }
    Ok(())
}

fn attach(program: &ProgramMut<'_>, place: Place, root: &File) -> libbpf_rs::Result<Link> {
    match place {
        Place::Kernel => program.attach(),
        Place::Root => program.attach_cgroup(root.as_raw_fd()),
    }
}

/// Those that still run.
fn alive(kept: &[(u32, u32)]) -> impl Iterator<Item = &(u32, u32)> {
    let runs = |pid: u32| std::path::Path::new(&format!("/proc/{pid}")).exists();
    kept.iter().filter(move |(pid, _)| runs(*pid))
}

/// Sets the number's bit, of words of 64.
fn note(known: &mut [u8], pid: u32) {
    let mut words = known.chunks_exact_mut(size_of::<u64>());
    let word = words
        .nth(pid as usize / 64)
        .expect("a bit for every number");
    let bits = u64::from_ne_bytes((&*word).try_into().expect("a word"));
    word.copy_from_slice(&(bits | 1 << (pid % 64)).to_ne_bytes());
}

fn update(map: &impl MapCore, pid: u32, bits: u32) -> libbpf_rs::Result<()> {
    map.update(&pid.to_ne_bytes(), &bits.to_ne_bytes(), MapFlags::ANY)
}

fn bytes(choices: niceness_choices) -> [u8; size_of::<niceness_choices>()] {
    // SAFETY: a structure of integers without gaps, as many bytes as it has.
    unsafe { std::mem::transmute(choices) }
}

/// What is chosen now; `None` when it is not loaded, or by another build.
pub(crate) fn choices() -> Option<niceness_choices> {
    let map = pins::map(&pins::niceness_choices())?;
    let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    let value: [u8; size_of::<niceness_choices>()] = value.try_into().ok()?;
    // SAFETY: as many bytes as the structure has, of integers.
    Some(unsafe {
        std::mem::transmute::<[u8; size_of::<niceness_choices>()], niceness_choices>(value)
    })
}

pub(crate) fn choose(all: niceness_choices) -> Result<()> {
    let map = pins::map(&pins::niceness_choices()).ok_or(Error::NotUp("attach to"))?;
    map.update(&0u32.to_ne_bytes(), &bytes(all), MapFlags::ANY)
        .map_err(Error::bpf("choose how sockets find their niceness"))
}

/// Of the connections, and how many processes were refused.
pub(super) fn counters() -> Option<(Counters, u64)> {
    let map = pins::map(&pins::niceness_counters())?;
    let bytes = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    let bytes = bytes.get(..size_of::<niceness_counters>())?;
    // SAFETY: as many bytes as the structure has, of integers; they need not be aligned.
    let all: niceness_counters =
        unsafe { bytes.as_ptr().cast::<niceness_counters>().read_unaligned() };
    Some((policy::counted(&all.connections), all.refused))
}
