// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Another process and its descriptors.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use procfs::process::{all_processes, FDTarget};
use rustix::io::Errno;
use rustix::process::{pidfd_getfd, pidfd_open, Pid, PidfdFlags, PidfdGetfdFlags};
use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};

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
        self.in_its_network(|| {
            let name = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control")?;
            Ok(name.trim().to_owned())
        })
    }

    /// With this thread in its network namespace; procfs knows no descriptors of namespaces.
    pub(super) fn in_its_network<T>(&self, what: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let here = File::open("/proc/thread-self/ns/net")?;
        let there = File::open(format!("/proc/{}/ns/net", self.pid))?;
        if here.metadata()?.ino() == there.metadata()?.ino() {
            return what();
        }
        enter(&there)?;
        let done = what();
        enter(&here)?;
        done
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

// Of this thread alone.
fn enter(namespace: &File) -> io::Result<()> {
    let network = Some(LinkNameSpaceType::Network);
    Ok(move_into_link_name_space(namespace.as_fd(), network)?)
}
