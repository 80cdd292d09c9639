// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The network niceness of processes: an attribute as nice(1) has it, which a user may raise and children inherit.
//!
//! [`raise`] asks for it, by a call that needs no rights; the rest is root's.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use libbpf_rs::{Link, MapCore, MapFlags, ProgramMut};
use procfs::process::Process;
use rustix::io::Errno;
use serde::Serialize;

use crate::cgroup::Hierarchy;
use crate::group::{Direction, Group, HIGHEST_LEVEL};
use crate::policy::{self, Counters};
use crate::shared::{
    niceness_choices, niceness_counters, nn_verb, NN_CALL_ANSWERS, NN_CALL_ASK, NN_CALL_DONE, NN_CALL_FILE,
    NN_CALL_FILE_ALONE, NN_CALL_NO_QUIC, NN_CALL_RAISE, NN_CALL_SET, NN_NICENESS_ALONE, NN_NICENESS_LEVEL_0,
    NN_NICENESS_NO_QUIC, NN_NICENESS_RECEIVES, NN_NICENESS_SENDS, NN_NICENESS_UNMARKED,
};
use crate::{object, pins, Error, Result};

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
    let (counters, refused) = counters()?;
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

/// The same for a process that may be asked to do without QUIC, too.
pub(crate) fn bits_with_quic(group: Group, without_quic: bool) -> u32 {
    bits(group) | if without_quic { NN_NICENESS_NO_QUIC } else { 0 }
}

/// The highest level counts; `None` is the foreground.
pub(crate) fn group(bits: u32) -> Option<Group> {
    let level = (0..=HIGHEST_LEVEL)
        .rev()
        .find(|level| bits & NN_NICENESS_LEVEL_0 << level != 0)?;
    let direction = match (bits & NN_NICENESS_SENDS != 0, bits & NN_NICENESS_RECEIVES != 0) {
        (true, false) => Direction::Send,
        (false, true) => Direction::Receive,
        _ => Direction::Both,
    };
    let marked = bits & NN_NICENESS_UNMARKED == 0;
    Some(Group::new(level, marked, direction))
}

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/niceness.bpf.o"));
/// Last the call: a process that gets an answer finds everything in place.
const PROGRAMS: [(&str, Place); 10] = [
    ("netnice_fork", Place::Kernel),
    ("netnice_exit", Place::Kernel),
    ("netnice_exec", Place::Kernel),
    ("netnice_cgroup", Place::Kernel),
    ("netnice_removed", Place::Kernel),
    ("netnice_socket", Place::Root),
    ("netnice_opened", Place::Root),
    ("netnice_deadline", Place::Root),
    ("netnice_floor", Place::Root),
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
        pins::timed(),
        pins::floored(),
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
        "the eBPF programs of niceness",
        OBJECT,
        &[
            ("moved", &pins::moved()),
            ("before", &pins::before()),
            ("floors", &pins::floors()),
            ("floor_of", &pins::floor_of()),
        ],
        &[
            ("processes", &pins::processes()),
            ("timed", &pins::timed()),
            ("floored", &pins::floored()),
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
    let root = File::open(hierarchy.root()).map_err(Error::file("open the root of the cgroups", hierarchy.root()))?;
    let mut loaded = open.load().map_err(Error::bpf("load the eBPF programs of niceness"))?;
    for (pid, bits) in alive(kept) {
        let processes = loaded.maps_mut().find(|map| map.name() == "processes");
        let processes = processes.expect("the object has a map of processes");
        let _ = update(&processes, *pid, *bits); // one of the same size had room for all of them
    }
    for (name, place) in PROGRAMS {
        let program = loaded.progs_mut().find(|program| program.name() == name);
        let program = program.expect("the object has the programs of its list");
        let mut link = attach(&program, place, &root).map_err(Error::bpf(format!("attach '{name}' for all users")))?;
        link.pin(pins::niceness_link(name))
            .map_err(Error::bpf("pin the eBPF programs of niceness"))?;
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
    let word = words.nth(pid as usize / 64).expect("a bit for every number");
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
    Some(unsafe { std::mem::transmute::<[u8; size_of::<niceness_choices>()], niceness_choices>(value) })
}

pub(crate) fn choose(all: niceness_choices) -> Result<()> {
    let map = pins::map(&pins::niceness_choices()).ok_or(Error::NotUp("attach to"))?;
    map.update(&0u32.to_ne_bytes(), &bytes(all), MapFlags::ANY)
        .map_err(Error::bpf("choose how sockets find their niceness"))
}

/// Of the connections, and how many processes were refused.
fn counters() -> Option<(Counters, u64)> {
    let map = pins::map(&pins::niceness_counters())?;
    let bytes = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    let bytes = bytes.get(..size_of::<niceness_counters>())?;
    // SAFETY: as many bytes as the structure has, of integers; they need not be aligned.
    let all: niceness_counters = unsafe { bytes.as_ptr().cast::<niceness_counters>().read_unaligned() };
    Some((policy::counted(&all.connections), all.refused))
}

const DONE: u32 = NN_CALL_DONE as u32;
/// The bits of a call that number a process.
const PROCESS_BITS: u32 = 0x3f_ffff;

/// What inherits from a process that becomes nicer. One that is nice with what it starts stays so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heirs {
    /// All that it starts.
    All,
    /// No program: what it starts is in the foreground.
    None,
}

impl Heirs {
    pub fn of_alone(alone: bool) -> Self {
        match alone {
            true => Self::None,
            false => Self::All,
        }
    }
}

/// Why a process did not become nicer.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Netnice is not loaded, or could not be attached for all users.
    #[error("the call has no answer")]
    Unanswered,
    #[error("as many processes are nice as there is room for")]
    NoRoom,
    /// None that this one sees has the number.
    #[error("there is no process {0}")]
    NoProcess(u32),
    #[error(transparent)]
    Other(io::Error),
}

/// The niceness that this process has by itself; `None` in the foreground, and where the call has no answer.
pub fn own() -> Option<Group> {
    of(0)
}

/// Whether netnice is loaded for all users: a process may ask.
pub fn answers() -> bool {
    ask(NN_CALL_ASK, 0, 0).is_ok()
}

/// That of another process, by the number that this one knows it by; 0 is this one.
pub fn of(pid: u32) -> Option<Group> {
    ask(NN_CALL_ASK, 0, pid).ok().and_then(group)
}

/// Are programs that the process starts in the foreground, while it is not?
pub fn is_alone(pid: u32) -> bool {
    ask(NN_CALL_ASK, 0, pid).is_ok_and(|bits| bits & NN_NICENESS_ALONE != 0)
}

/// This process becomes at least as nice, and what it will start.
pub fn raise(to: Group, heirs: Heirs) -> Result<(), Refusal> {
    ask_for(heirs, NN_CALL_RAISE, bits(to), 0).map(|_| ())
}

/// The same for another process, as an own one.
pub(crate) fn raise_other(pid: u32, to: Group, heirs: Heirs) -> Result<(), Refusal> {
    ask_for(heirs, NN_CALL_RAISE, bits(to), pid).map(|_| ())
}

/// A process, 0 being this one, and what it will start, does without QUIC, where there are programs that refuse it
/// ([`crate::quic`]). Another user's takes root.
pub fn forgo_quic(pid: u32) -> Result<(), Refusal> {
    ask(NN_CALL_NO_QUIC, 0, pid).map(|_| ())
}

/// Another process becomes as nice, or returns to the foreground. One's own may become nicer; the rest takes root.
pub fn set(pid: u32, to: Option<Group>, heirs: Heirs) -> Result<(), Refusal> {
    ask_for(heirs, NN_CALL_SET, to.map_or(0, bits), pid).map(|_| ())
}

/// The niceness that the process has then.
fn ask(verb: nn_verb, niceness: u32, pid: u32) -> Result<u32, Refusal> {
    ask_for(Heirs::All, verb, niceness, pid)
}

fn ask_for(heirs: Heirs, verb: nn_verb, niceness: u32, pid: u32) -> Result<u32, Refusal> {
    let offset = 1 << 30 | u64::from(verb) << 28 | u64::from(niceness) << 22 | u64::from(pid);
    let name: &[u8] = match heirs {
        Heirs::All => NN_CALL_FILE,
        Heirs::None => NN_CALL_FILE_ALONE,
    };
    call(name, offset)
}

/// Reads a sysctl there; what is said, less [`DONE`].
pub(crate) fn call(file: &[u8], offset: u64) -> Result<u32, Refusal> {
    let why = match open(file).and_then(|file| file.read_at(&mut [0], offset)) {
        Ok(_) => return Err(Refusal::Unanswered),
        Err(why) => why,
    };
    let said = why.raw_os_error().map_or(0, i32::unsigned_abs);
    if (DONE..DONE + NN_CALL_ANSWERS as u32).contains(&said) {
        return Ok(said - DONE);
    }
    Err(match Errno::from_io_error(&why) {
        Some(Errno::NOMEM) => Refusal::NoRoom,
        Some(Errno::SRCH) => Refusal::NoProcess(offset as u32 & PROCESS_BITS),
        _ => Refusal::Other(why),
    })
}

fn open(file: &[u8]) -> io::Result<File> {
    let name = String::from_utf8_lossy(&file[..file.len() - 1]);
    File::open(format!("/proc/sys/{name}"))
}
