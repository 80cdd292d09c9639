// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the receiver knows of the sockets of a process.

use std::collections::HashMap;
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::process::Process;
use super::socket::Tcp;
use crate::pins;
use crate::settings::State;
use crate::shared::connection;

/// Of one socket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Receiving {
    /// Its incoming traffic yields.
    pub yields: bool,
    /// Queueing delay that its last arrival met on the path here, microseconds. `None`: not measured.
    pub queue_us: Option<u32>,
}

/// Of all sockets of a process, by inode. `None`: only root can see it.
pub fn receiving(pid: u32) -> Option<HashMap<u64, Receiving>> {
    let maps = Maps::open()?;
    let process = Process::open(pid).ok()?;
    let mut found = HashMap::new();
    for (fd, inode) in process.sockets().ok()? {
        if let Some(socket) = process.duplicate(fd).ok().flatten().and_then(Tcp::of) {
            found.insert(inode, maps.look(&socket));
        }
    }
    Some(found)
}

struct Maps {
    wishes: MapHandle,
    /// Those of cgroups, and single ones.
    connections: [Option<MapHandle>; 2],
    /// Another build may lay its connections out in another way.
    same_build: bool,
}

impl Maps {
    fn open() -> Option<Self> {
        Some(Self {
            wishes: pins::map(&pins::receiver_wishes())?,
            connections: [pins::receiver_connections(), pins::receiver_adopted()].map(|pin| pins::map(&pin)),
            same_build: State::read().is_some_and(|state| state.build_id == crate::BUILD_ID),
        })
    }

    /// Of MPTCP the subflows yield, and the wish is with the socket above them.
    fn look(&self, socket: &Tcp) -> Receiving {
        let key = socket.as_fd().as_raw_fd().to_ne_bytes();
        let value = |map: &MapHandle| map.lookup(&key, MapFlags::ANY).ok().flatten();
        if socket.is_multipath() {
            return Receiving {
                yields: value(&self.wishes).is_some(),
                queue_us: None,
            };
        }
        let known = self.connections.iter().flatten().find_map(value);
        Receiving {
            yields: known.is_some(),
            queue_us: known.filter(|_| self.same_build).and_then(|bytes| queue_us(&bytes)),
        }
    }
}

/// Of a connection as the kernel keeps it; `None` before its first arrival.
fn queue_us(bytes: &[u8]) -> Option<u32> {
    bytes.get(..size_of::<connection>())?;
    let seen = bytes[offset_of!(connection, flow.seen)] != 0;
    let queue = bytes[offset_of!(connection, flow.delay.queue)..].first_chunk()?;
    seen.then(|| u32::from_ne_bytes(*queue))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_that_the_last_arrival_met() {
        let mut bytes = vec![0; size_of::<connection>()];
        let at = offset_of!(connection, flow.delay.queue);
        bytes[at..at + 4].copy_from_slice(&25_000u32.to_ne_bytes());
        assert_eq!(queue_us(&bytes), None, "nothing has arrived");
        bytes[offset_of!(connection, flow.seen)] = 1;
        assert_eq!(queue_us(&bytes), Some(25_000));
        assert_eq!(queue_us(&bytes[1..]), None);
    }
}
