// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The sockets of a process, and those that wait for connections.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{OwnedFd, RawFd};
use std::path::Path;

use libbpf_rs::{Iter, MapCore, MapFlags, Object};
use procfs::process::{all_processes, FDTarget};
use rustix::io::Errno;
use rustix::process::{pidfd_getfd, pidfd_open, Pid, PidfdFlags, PidfdGetfdFlags};

use super::socket::Tcp;
use crate::shared::{waiting_choices, waiting_counters, WAITING_SOCKETS};
use crate::{namespace, object, pins, Error, Result};

pub(super) struct Process {
    pid: u32,
    handle: OwnedFd,
}

impl Process {
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        let number = pid.try_into().ok().and_then(Pid::from_raw);
        let handle = pidfd_open(number.ok_or(Errno::INVAL)?, PidfdFlags::empty())?;
        Ok(Self { pid, handle })
    }

    pub(super) fn number(&self) -> u32 {
        self.pid
    }

    /// Descriptors that are sockets, each with the socket's inode number. procfs's own list of descriptors leaves out
    /// those that may not be read, which is an error here.
    pub(super) fn sockets(&self) -> io::Result<Vec<(RawFd, u64)>> {
        let dir = format!("/proc/{}/fd", self.pid);
        let entries = match fs::read_dir(dir) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let link = match fs::read_link(entry.path()) {
                Err(e) if e.kind() == ErrorKind::NotFound => continue, // closed meanwhile
                link => link?,
            };
            let number = entry.file_name().to_str().and_then(|n| n.parse().ok());
            found.extend(number.zip(inode(&link)));
        }
        Ok(found)
    }

    /// The same socket, as a descriptor of ours; `None` when it has been closed.
    pub(super) fn duplicate(&self, fd: RawFd) -> io::Result<Option<OwnedFd>> {
        match pidfd_getfd(&self.handle, fd, PidfdGetfdFlags::empty()) {
            Ok(copy) => Ok(Some(copy)),
            Err(Errno::BADF | Errno::SRCH) => Ok(None),
            Err(why) => Err(why.into()),
        }
    }

    /// What new connections of its network namespace run on.
    pub(super) fn default_congestion_control(&self) -> io::Result<String> {
        let read = || fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
        let name = namespace::inside(self.pid, read)??;
        Ok(name.trim().to_owned())
    }
}

/// Every process that can be reached.
pub(super) fn all() -> impl Iterator<Item = Process> {
    let listed = all_processes().into_iter().flatten().flatten();
    listed.filter_map(|process| Process::open(process.pid().unsigned_abs()).ok())
}

/// Of "socket:[4711]".
pub(super) fn inode(link: &Path) -> Option<u64> {
    match link.to_str()?.parse() {
        Ok(FDTarget::Socket(inode)) => Some(inode),
        _ => None,
    }
}

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/waiting.bpf.o"));
const PROGRAM: &str = "each";
/// The end of the name of the section that they are in.
const CHOICES: &str = ".rodata.waiting";

/// Sockets of a process with connections below them that have no descriptor: those that wait to be accepted, and the subflows
/// of MPTCP.
#[derive(Default)]
pub(super) struct Queue {
    sockets: Vec<u64>,
    connections: usize,
}

impl Queue {
    pub(super) fn add(&mut self, socket: &Tcp) {
        // One that cannot say is none of those that matter.
        let waiting = socket.waiting().unwrap_or(0);
        if waiting > 0 || socket.is_multipath() {
            self.sockets.extend(socket.cookie());
            self.connections += waiting as usize;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sockets.is_empty()
    }

    /// How many wait.
    pub(super) fn connections(&self) -> usize {
        self.connections
    }

    /// What waits becomes as chosen. Takes root.
    pub(super) fn turn(&self, process: &Process, choices: &waiting_choices) -> Result<waiting_counters> {
        let object = load(choices)?;
        for cookie in self.sockets.iter().take(WAITING_SOCKETS as usize) {
            map(&object, "targets")
                .update(&cookie.to_ne_bytes(), &1u32.to_ne_bytes(), MapFlags::ANY)
                .map_err(Error::bpf("name a listening socket to the iterator"))?;
        }
        let mut programs = object.progs_mut();
        let program = programs.find(|program| program.name() == PROGRAM);
        let link = program
            .expect("the object has its program")
            .attach()
            .map_err(Error::bpf("attach the iterator of TCP sockets"))?;
        let pass = || {
            let mut all = Iter::new(&link).map_err(io::Error::other)?;
            all.read_to_end(&mut Vec::new())
        };
        let passed = namespace::inside(process.pid, pass).and_then(|done| done);
        passed.map_err(|why| Error::Unreachable(process.number(), why))?;
        let counters = map(&object, ".data").lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let bytes = counters.map_err(Error::bpf("read what the iterator did"))?;
        let bytes = bytes.expect("an array has all its entries");
        // SAFETY: the object's .data is this structure, of integers; its bytes need not be aligned.
        Ok(unsafe { bytes.as_ptr().cast::<waiting_counters>().read_unaligned() })
    }
}

/// With the maps that are shared with what is loaded; those that are not there are its own, and empty.
fn load(choices: &waiting_choices) -> Result<Object> {
    let shared = [
        ("moved", pins::moved()),
        ("before", pins::before()),
        ("wishes", pins::receiver_wishes()),
        ("connections", pins::receiver_adopted()),
        ("of_cgroups", pins::receiver_connections()),
        (".bss", pins::receiver_counters()),
    ];
    let there = shared.iter().filter(|(_, pin)| pin.exists());
    let there: Vec<_> = there.map(|(name, pin)| (*name, pin.as_path())).collect();
    let mut open = object::open("the iterator of TCP sockets", OBJECT, &there, &[])?;
    for mut map in open.maps_mut() {
        if map.name().to_string_lossy().ends_with(CHOICES) {
            // SAFETY: a structure of integers without gaps.
            let bytes = unsafe {
                let start = (&raw const *choices).cast::<u8>();
                std::slice::from_raw_parts(start, size_of_val(choices))
            };
            let value = map.initial_value_mut().expect("the object has its choices");
            value[..bytes.len()].copy_from_slice(bytes);
        }
    }
    open.load().map_err(Error::bpf("load the iterator of TCP sockets"))
}

fn map<'a>(object: &'a Object, end: &str) -> libbpf_rs::Map<'a> {
    let found = |map: &libbpf_rs::Map| map.name().to_string_lossy().ends_with(end);
    let all = object.maps().find(found);
    all.expect("the object has its maps")
}
