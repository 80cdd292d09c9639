// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Another process and its descriptors.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;

pub(super) struct Process {
    pid: u32,
    handle: OwnedFd,
}

impl Process {
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        // SAFETY: two numbers.
        let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        Ok(Self {
            pid,
            handle: owned(handle)?,
        })
    }

    /// Descriptors that are sockets, each with the socket's inode number.
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
            found.extend(number.zip(link.to_str().and_then(inode)));
        }
        Ok(found)
    }

    /// The same socket, as a descriptor of ours; `None` when it has been closed.
    pub(super) fn duplicate(&self, fd: RawFd) -> io::Result<Option<OwnedFd>> {
        // SAFETY: three numbers.
        let copy = unsafe { libc::syscall(libc::SYS_pidfd_getfd, self.handle.as_raw_fd(), fd, 0) };
        match owned(copy) {
            Err(e) if matches!(e.raw_os_error(), Some(libc::EBADF | libc::ESRCH)) => Ok(None),
            copy => copy.map(Some),
        }
    }

    /// What new connections of its network namespace run on.
    pub(super) fn default_congestion_control(&self) -> io::Result<String> {
        let here = File::open("/proc/thread-self/ns/net")?;
        let there = File::open(format!("/proc/{}/ns/net", self.pid))?;
        let elsewhere = here.metadata()?.ino() != there.metadata()?.ino();
        if elsewhere {
            enter(&there)?;
        }
        let name = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
        if elsewhere {
            enter(&here)?;
        }
        Ok(name?.trim().to_owned())
    }
}

/// Every process that can be reached.
pub(super) fn all() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Process::open(pid).ok())
}

/// Of "socket:[4711]".
pub(super) fn inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    match RawFd::try_from(result) {
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

// Of this thread alone.
fn enter(namespace: &File) -> io::Result<()> {
    // SAFETY: two numbers; the descriptor is open.
    match unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
