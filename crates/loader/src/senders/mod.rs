// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The process that really sends. The traffic of some programs is on sockets of another process. It is a daemon,
//! an ssh master, what serves a mount, or the network of a rootless container.

mod mounts;
mod processes;
mod unix;
mod way;

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use crate::container::helpers_of;
use crate::sockets::{name_of, owners, Owner};

pub(crate) use processes::commands;
pub use processes::family;
pub use way::Way;

/// A process that sends for another one.
#[derive(Debug, Clone, Serialize)]
pub struct Sender {
    /// `None`: the kernel, or a process that is not told to this user.
    pub pid: Option<u32>,
    pub program: String,
    pub way: Way,
    /// `None` in the foreground.
    pub level: Option<u32>,
    /// That of the process it sends for.
    pub asked_by: Option<u32>,
}

impl Sender {
    fn new(owner: Option<&Owner>, way: Way, asked_by: Option<u32>) -> Self {
        Self {
            pid: owner.map(|owner| owner.pid),
            program: owner.map_or("not told to this user", |owner| &owner.program).to_owned(),
            way,
            level: owner.and_then(|owner| owner.level),
            asked_by,
        }
    }

    /// The command that has it be as the process that it sends for, if it is not.
    pub fn remedy(&self) -> Option<String> {
        let pid = self.pid?;
        match (self.asked_by, self.level) {
            (Some(wanted), now) if now < Some(wanted) => Some(format!("sudo netnice -n {wanted} -d -p {pid}")),
            (None, Some(_)) => Some(format!("sudo netnice -n off -d -p {pid}")),
            _ => None,
        }
    }
}

impl Display for Sender {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Way::KernelMount(_) = self.way {
            return write!(
                f,
                "the kernel ({}) sends for it and cannot yield: {}",
                self.program, self.way
            );
        }
        match self.pid {
            Some(pid) => write!(f, "process {pid} ({}) sends for it", self.program)?,
            None => write!(f, "another process ({}) sends for it", self.program)?,
        }
        match self.level {
            Some(level) => write!(f, ", in the background at level {level}: {}", self.way)?,
            None => write!(f, ", in the foreground: {}", self.way)?,
        }
        match self.remedy() {
            Some(command) if self.level.is_some() && self.asked_by.is_none() => {
                write!(f, ". Back to the foreground: '{command}'")
            }
            Some(command) => write!(f, ". Put it in the background: '{command}'"),
            None => Ok(()),
        }
    }
}

/// The processes that send for these, one of which is at that level.
/// Unix sockets are those of this network namespace; other users' processes are only told to root.
pub fn senders(pids: &[u32], asked_by: Option<u32>) -> Vec<Sender> {
    let owners = owners();
    let own: HashSet<u32> = pids.iter().copied().collect();
    let by_pid: HashMap<u32, &Owner> = owners.values().map(|owner| (owner.pid, owner)).collect();
    let mut found: Vec<Sender> = Vec::new();
    let mut add = |sender: Sender| {
        let known = found.iter().any(|one| (one.pid, &one.way) == (sender.pid, &sender.way));
        if !known && !sender.pid.is_some_and(|pid| own.contains(&pid)) {
            found.push(sender);
        }
    };
    let sockets = unix::sockets().unwrap_or_default();
    for pid in pids {
        for inode in crate::sockets::sockets_of(*pid) {
            let Some(peer) = sockets.get(&inode).and_then(|one| one.peer) else {
                continue;
            };
            let owner = owners.get(&peer);
            let path = sockets.get(&peer).and_then(|one| one.path.as_deref());
            if let Some(way) = unix::way(name_of(*pid).as_deref(), owner, path) {
                add(Sender::new(owner, way, asked_by));
            }
        }
        for mount in mounts::remote(*pid) {
            let server = mount
                .server()
                .map(|server| ssh_of(server, &sockets, &owners).unwrap_or(server));
            let owner = server.map(|server| owner_of(server, &by_pid));
            let mut sender = Sender::new(owner.as_ref(), mount.way(), asked_by);
            if owner.is_none() {
                sender.program = mount.kind;
            }
            add(sender);
        }
        for helper in helpers_of(*pid) {
            add(Sender::new(
                Some(&owner_of(helper.pid, &by_pid)),
                Way::Rootless,
                asked_by,
            ));
        }
    }
    found
}

/// sshfs sends by an ssh, at the other end of a Unix socket. When sshfs goes to the background, ssh is no child of it.
fn ssh_of(server: u32, sockets: &HashMap<u32, unix::Unix>, owners: &HashMap<u32, Owner>) -> Option<u32> {
    let own = crate::sockets::sockets_of(server);
    let peers = own.iter().filter_map(|inode| sockets.get(inode)?.peer);
    let mut ends = peers.filter_map(|peer| owners.get(&peer));
    ends.find(|end| end.program == "ssh").map(|ssh| ssh.pid)
}

/// A process that need not have a socket.
fn owner_of(pid: u32, known: &HashMap<u32, &Owner>) -> Owner {
    match known.get(&pid) {
        Some(owner) => (*owner).clone(),
        None => Owner {
            pid,
            program: name_of(pid).unwrap_or_default(),
            unit: String::new(),
            level: crate::attachments::in_effect(pid).map(|group| group.level),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(level: Option<u32>, asked_by: Option<u32>) -> Sender {
        Sender {
            pid: Some(4711),
            program: "ssh".to_owned(),
            way: Way::SshMaster,
            level,
            asked_by,
        }
    }

    #[test]
    fn the_command_that_makes_both_alike() {
        for (level, asked_by, command) in [
            (None, Some(0), Some("sudo netnice -n 0 -d -p 4711")),
            (Some(0), Some(2), Some("sudo netnice -n 2 -d -p 4711")),
            (Some(0), None, Some("sudo netnice -n off -d -p 4711")),
            (Some(1), Some(1), None),
            (None, None, None),
        ] {
            assert_eq!(sender(level, asked_by).remedy().as_deref(), command);
        }
    }

    #[test]
    fn what_is_said() {
        let said = sender(None, Some(0)).to_string();
        assert!(
            said.starts_with("process 4711 (ssh) sends for it, in the foreground: "),
            "{said}"
        );
        assert!(
            said.ends_with("Put it in the background: 'sudo netnice -n 0 -d -p 4711'"),
            "{said}"
        );
        let said = sender(Some(0), None).to_string();
        assert!(said.contains("in the background at level 0"), "{said}");
        assert!(said.contains("Back to the foreground: "), "{said}");
    }

    #[test]
    fn this_process_is_of_its_family() {
        assert_eq!(family(std::process::id())[0], std::process::id());
    }
}
