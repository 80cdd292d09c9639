// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The TCP sockets that a process already has, switched while they are in use.
//!
//! Each is duplicated from the process (pidfd_getfd), for which the kernel asks the rights of a debugger: no user
//! reaches another's sockets. A socket that processes share is switched for all of them. A connection that waits to
//! be accepted has no descriptor: an iterator in the kernel switches it with its listening socket, which takes root.

mod process;
mod receiving;
mod socket;

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use rustix::io::Errno;

use crate::facts::{privileged, Release};
use crate::group::Group;
use crate::settings::State;
use crate::shared::{waiting_choices, waiting_counters, NN_BY_NETNICE};
use crate::{floor, pins, receiver, Error, Result};
use process::{Process, Queue};
use socket::{Before, Tcp};

pub use receiving::{receiving, Receiving};

/// A process may open and accept while its sockets are read.
const PASSES: usize = 4;

/// Lets programs be asked before each ACK of a live connection.
pub const RECEIVING: Release = Release(6, 12);

/// What the sockets become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// `None`: those that are on a level return to what they had, or to the default of their network namespace.
    pub congestion_control: Option<String>,
    /// DSCP LE on what they send; if not, they get the mark back that they had.
    pub mark: bool,
    /// They yield with what they receive.
    pub receive: bool,
    /// Sockets that yield more already stay as they are.
    pub only_nicer: bool,
}

impl Target {
    /// What the sockets become of a process that is so nice; none: of one in the foreground.
    pub fn of(group: Option<Group>) -> Self {
        let sending = group.filter(|group| group.direction.sends());
        // What an up with --no-mark said counts for the whole machine.
        let machine_marks = State::read().is_none_or(|state| state.mark);
        Self {
            congestion_control: sending.map(Group::congestion_control),
            mark: machine_marks && sending.is_some_and(|group| group.marked),
            receive: group.is_some_and(|group| group.direction.receives()),
            only_nicer: false,
        }
    }

    /// The same for a caller that may not make them less nice, or does not mean to.
    pub fn only_nicer(self) -> Self {
        Self {
            only_nicer: true,
            ..self
        }
    }

    /// Would a socket on this congestion control yield less?
    fn lowers(&self, now: &str) -> bool {
        let wanted = self.congestion_control.as_deref();
        Group::level_of(now) > wanted.and_then(Group::level_of)
    }

    /// The same for what waits to be accepted. `default`: what connections of the foreground run on there.
    fn choices(&self, default: &str) -> waiting_choices {
        let name = self.congestion_control.as_deref();
        let mut cc_name = [0; 16];
        for (to, from) in cc_name[..15].iter_mut().zip(name.unwrap_or(default).bytes()) {
            *to = from;
        }
        waiting_choices {
            cc_name,
            rank: name.and_then(Group::level_of).map_or(0, |level| level + 1),
            only_nicer: self.only_nicer.into(),
            mark: self.mark.into(),
            unmark: (!self.mark && !self.only_nicer).into(),
            receive: self.receive.into(),
            release: (!self.receive && !self.only_nicer).into(),
        }
    }
}

/// What became of them.
#[derive(Debug, Default)]
pub struct Switched {
    /// Connections and listening sockets that are as asked now.
    pub sockets: usize,
    /// Those that the kernel would not change, and its last reason.
    pub refused: usize,
    pub reason: Option<io::Error>,
    /// Sockets whose incoming traffic cannot yield, and why.
    pub unadopted: usize,
    pub unadopted_reason: Option<NotAdopted>,
    /// Connections that wait to be accepted, and stay as they are because it takes root.
    pub unaccepted: usize,
}

impl Switched {
    /// Connections that waited to be accepted.
    fn add(&mut self, counted: &waiting_counters) {
        let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        self.sockets += number(counted.done);
        self.refused += number(counted.refused);
        if counted.refused > 0 {
            self.reason = Some(io::Error::from_raw_os_error(-counted.reason as i32));
        }
        self.unadopted += number(counted.unjoined);
        if counted.unjoined > 0 {
            self.unadopted_reason = Some(NotAdopted::Kernel);
        }
    }
}

/// Why what a live connection receives does not begin to yield.
#[derive(Debug, thiserror::Error)]
pub enum NotAdopted {
    /// The kernel asks no program before an ACK of a live connection.
    #[error("on a connection in use it can only since Linux {RECEIVING}. Start the program with netnice instead")]
    Kernel,
    /// It takes root to have single sockets adopted, or an up for applications.
    #[error("it takes root: 'sudo netnice …', or 'netnicectl up --applications' by the administrator")]
    NotAttached,
    #[error(transparent)]
    Other(io::Error),
}

/// Switches every TCP socket of a process. One that has ended has none.
pub fn switch(pid: u32, target: &Target) -> Result<Switched> {
    let unreachable = |why| Error::Unreachable(pid, why);
    let process = Process::open(pid).map_err(unreachable)?;
    let mut maps = Maps::open();
    let default = match &target.congestion_control {
        Some(_) => String::new(),
        None => process.default_congestion_control().map_err(unreachable)?,
    };
    let floor = match target.congestion_control {
        Some(_) => floor::number_of(pid),
        None => 0,
    };
    let mut seen = HashSet::new();
    let mut done = Switched::default();
    for _ in 0..PASSES {
        let mut new = false;
        let mut queue = Queue::default();
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
                Ok(turned) => {
                    done.sockets += 1;
                    maps.put_on(&socket, floor);
                    if turned {
                        queue.add(&socket);
                    }
                }
                Err(why) => {
                    done.refused += 1;
                    done.reason = Some(why);
                }
            }
            if target.receive {
                if let Err(why) = maps.begin(&socket)? {
                    done.unadopted += 1;
                    done.unadopted_reason = Some(why);
                }
            }
        }
        // After the listening sockets, and before the next pass: what is accepted meanwhile is found by one of the two.
        let waiting = queue.connections();
        if !privileged() {
            done.unaccepted += waiting;
        } else if !queue.is_empty() {
            match queue.turn(&process, &target.choices(&default)) {
                Ok(counted) => done.add(&counted),
                Err(why) => {
                    done.refused += waiting;
                    done.reason = Some(io::Error::other(why.to_string()));
                }
            }
        }
        if !new {
            break;
        }
    }
    Ok(done)
}

/// Every socket of every process that can be reached, once. One that ends meanwhile is left out.
fn all_sockets() -> impl Iterator<Item = Tcp> {
    let mut seen = HashSet::new();
    process::all().flat_map(move |process| {
        let found = process.sockets().unwrap_or_default();
        let new: Vec<_> = found.into_iter().filter(|(_, inode)| seen.insert(*inode)).collect();
        new.into_iter()
            .filter_map(move |(fd, _)| process.duplicate(fd).ok().flatten().and_then(Tcp::of))
    })
}

/// Gives every window that netnice holds back to the kernel, of every process that can be reached. Idle connections are
/// included: their next ACK may come when netnice is already unloaded.
pub(crate) fn release_all() {
    let maps = Maps::open();
    for socket in all_sockets() {
        let _ = maps.release(&socket); // it has ended
    }
}

/// All sockets of the machine that netnice has touched, and that can be reached, are as they were.
pub(crate) fn restore_all() {
    let foreground = Target::of(None);
    for process in process::all() {
        let _ = switch(process.number(), &foreground); // it has ended
    }
}

/// What eBPF remembers by socket; closed to all but root.
struct Maps {
    moved: Option<MapHandle>,
    before: Option<MapHandle>,
    receiving: Option<MapHandle>,
    adopted: Option<MapHandle>,
    wishes: Option<MapHandle>,
    floor_of: Option<MapHandle>,
}

impl Maps {
    fn open() -> Self {
        Self {
            moved: pins::map(&pins::moved()),
            before: pins::map(&pins::before()),
            receiving: pins::map(&pins::receiver_connections()),
            adopted: pins::map(&pins::receiver_adopted()),
            wishes: pins::map(&pins::receiver_wishes()),
            floor_of: pins::map(&pins::floor_of()),
        }
    }

    /// What the socket receives yields from now on, if it does not yet. The outer error: nothing could be attached.
    fn begin(&mut self, socket: &Tcp) -> Result<std::result::Result<(), NotAdopted>> {
        let key = socket.as_fd().as_raw_fd().to_ne_bytes();
        if has(&self.receiving, &key) {
            return Ok(Ok(()));
        }
        if socket.is_multipath() && !privileged() {
            return Ok(Err(NotAdopted::NotAttached));
        }
        if privileged() && (receiver::adopt()? || self.wishes.is_none()) {
            *self = Self::open();
        }
        if let Some(wishes) = &self.wishes {
            let done = wishes.update(&key, &NN_BY_NETNICE.to_ne_bytes(), MapFlags::ANY);
            if let Err(why) = done {
                return Ok(Err(NotAdopted::Other(io::Error::other(why))));
            }
        }
        if socket.is_multipath() {
            return Ok(Ok(())); // its subflows are below: see Queue
        }
        Ok(socket
            .yield_receiving()
            .map_err(|why| match Errno::from_io_error(&why) {
                Some(Errno::OPNOTSUPP) => NotAdopted::Kernel,
                Some(Errno::NOPROTOOPT) => NotAdopted::NotAttached,
                _ => NotAdopted::Other(why),
            }))
    }

    /// What it receives yields no longer; a window that its application had limited stays so.
    fn release(&self, socket: &Tcp) -> io::Result<()> {
        let key = socket.as_fd().as_raw_fd().to_ne_bytes();
        if let Some(wishes) = &self.wishes {
            let _ = wishes.delete(&key);
        }
        for map in [&self.receiving, &self.adopted].into_iter().flatten() {
            let Ok(Some(connection)) = map.lookup(&key, MapFlags::ANY) else {
                continue;
            };
            if map.delete(&key).is_ok() {
                let own = connection.first_chunk().map_or(0, |most| i32::from_ne_bytes(*most));
                socket.release_window(own)?;
            }
        }
        Ok(())
    }

    /// False: it yields more already, and stays as it is.
    fn move_over(&self, socket: &Tcp, target: &Target, default: &str) -> io::Result<bool> {
        let key = socket.as_fd().as_raw_fd().to_ne_bytes();
        // First, so that the policy of the cgroup it was made in does not undo the rest.
        if let Some(moved) = &self.moved {
            moved
                .update(&key, &1u32.to_ne_bytes(), MapFlags::ANY)
                .map_err(io::Error::other)?;
        }
        if target.only_nicer && target.lowers(&socket.congestion_control()?) {
            return Ok(false);
        }
        if !target.receive && !target.only_nicer {
            self.release(socket)?;
        }
        socket.limit_scale(target.receive)?;
        let is_of_a_level = socket.is_of_a_level()?;
        let mut had = self.noted(&key);
        if !is_of_a_level && target.congestion_control.is_some() {
            had = socket.before()?;
            self.note(&key, &had);
        }
        if target.mark {
            // First: the congestion control keeps the mark that it finds.
            socket.mark()?;
        } else if !target.only_nicer && (is_of_a_level || had.marked()) {
            self.leave_unmarked(&key);
            socket.unmark(&had)?;
        }
        match &target.congestion_control {
            Some(name) => socket.set_congestion_control(name)?,
            None if is_of_a_level => socket.set_congestion_control(had.congestion_control().unwrap_or(default))?,
            None => (),
        }
        Ok(true)
    }

    /// It has the floor of this number from its next round on; 0: none.
    fn put_on(&self, socket: &Tcp, floor: u64) {
        let key = socket.as_fd().as_raw_fd().to_ne_bytes();
        if let Some(map) = &self.floor_of {
            let _ = match floor {
                0 => map.delete(&key),                                      // it had none
                _ => map.update(&key, &floor.to_ne_bytes(), MapFlags::ANY), // else it yields all the way
            };
        }
    }

    /// What it had before it came to its level.
    fn noted(&self, key: &[u8]) -> Before {
        let found = self
            .before
            .as_ref()
            .and_then(|map| map.lookup(key, MapFlags::ANY).ok()?);
        found.and_then(|bytes| Before::decode(&bytes)).unwrap_or_default()
    }

    /// Takes root.
    fn note(&self, key: &[u8], had: &Before) {
        if let Some(map) = &self.before {
            let _ = map.update(key, &had.encode(), MapFlags::ANY); // else it returns to the default
        }
    }

    /// No ACK puts a mark on.
    fn leave_unmarked(&self, key: &[u8]) {
        let mut noted = self.noted(key);
        if noted.marked() {
            noted.leave_unmarked();
            self.note(key, &noted);
        }
    }
}

fn has(map: &Option<MapHandle>, key: &[u8]) -> bool {
    let found = |map: &MapHandle| matches!(map.lookup(key, MapFlags::ANY), Ok(Some(_)));
    map.as_ref().is_some_and(found)
}

#[cfg(test)]
mod tests;
