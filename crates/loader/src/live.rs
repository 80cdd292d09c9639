// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The TCP sockets that a process already has, switched while they are in use.
//!
//! Each is duplicated from the process (pidfd_getfd), for which the kernel asks the rights of a debugger: nobody
//! reaches what is not theirs. A socket that processes share is switched for all of them. A connection that waits to
//! be accepted belongs to nobody yet, and is missed.

mod process;
mod socket;

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use crate::{pins, Error, Result};
use process::Process;
use socket::Tcp;

/// A process may open and accept while its sockets are read.
const PASSES: usize = 4;

/// What the sockets become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// `None`: those that run on an algorithm of ours return to the default of their network namespace.
    pub congestion_control: Option<String>,
    /// DSCP LE on what they send; if not, it is taken away where it is.
    pub mark: bool,
    /// Those that yield with what they receive go on doing so. None begins to: that takes a new connection.
    pub receive: bool,
}

/// What became of them.
#[derive(Debug, Default)]
pub struct Switched {
    /// Connections and listening sockets that are as asked now.
    pub sockets: usize,
    /// Those that the kernel would not change, and its last reason.
    pub refused: usize,
    pub reason: Option<io::Error>,
}

/// Switches every TCP socket of a process. One that has ended has none.
pub fn switch(pid: u32, target: &Target) -> Result<Switched> {
    let unreachable = |why| Error::Unreachable(pid, why);
    let process = Process::open(pid).map_err(unreachable)?;
    let maps = Maps::open();
    let default = match &target.congestion_control {
        Some(_) => String::new(),
        None => process.default_congestion_control().map_err(unreachable)?,
    };
    let mut seen = HashSet::new();
    let mut done = Switched::default();
    for _ in 0..PASSES {
        let mut new = false;
        for (fd, inode) in process.sockets().map_err(unreachable)? {
            if !seen.insert(inode) {
                continue;
            }
            new = true;
            let Some(socket) = process.duplicate(fd).map_err(unreachable)? else {
                continue;
            };
            let Some(socket) = Tcp::of(socket) else {
                continue;
            };
            match maps.move_over(&socket, target, &default) {
                Ok(()) => done.sockets += 1,
                Err(why) => {
                    done.refused += 1;
                    done.reason = Some(why);
                }
            }
        }
        if !new {
            break;
        }
    }
    Ok(done)
}

/// What eBPF remembers by socket; closed to all but root.
struct Maps {
    moved: Option<MapHandle>,
    receiving: Option<MapHandle>,
}

impl Maps {
    fn open() -> Self {
        // libbpf-rs panics on a path it cannot turn into a map; look first.
        let map = |pin: std::path::PathBuf| {
            pin.exists()
                .then(|| MapHandle::from_pinned_path(pin).ok())
                .flatten()
        };
        Self {
            moved: map(pins::moved()),
            receiving: map(pins::receiver_connections()),
        }
    }

    fn move_over(&self, socket: &Tcp, target: &Target, default: &str) -> io::Result<()> {
        let key = socket.as_fd().as_raw_fd().to_ne_bytes();
        // First, so that the policy of the cgroup it was made in does not undo the rest.
        if let Some(moved) = &self.moved {
            moved
                .update(&key, &1u32.to_ne_bytes(), MapFlags::ANY)
                .map_err(io::Error::other)?;
        }
        let received = !target.receive
            && self
                .receiving
                .as_ref()
                .is_some_and(|map| map.delete(&key).is_ok());
        if received {
            socket.release_window()?;
        }
        socket.mark(target.mark)?;
        match &target.congestion_control {
            Some(name) => socket.set_congestion_control(name),
            None if socket.is_ours()? => socket.set_congestion_control(default),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
