// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Whose sockets are: processes, their programs and units.

use std::collections::{HashMap, HashSet};

use procfs::process::{all_processes, FDTarget, Process};
use serde::Serialize;

use crate::attachments::InEffect;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Owner {
    pub pid: u32,
    pub program: String,
    /// The innermost service, scope or slice of systemd, or the cgroup, that it is in.
    pub unit: String,
    /// `None` in the foreground.
    pub level: Option<u32>,
}

impl Owner {
    fn look(process: &Process, in_effect: &InEffect) -> Option<Self> {
        let pid = process.pid().unsigned_abs();
        let groups = process.cgroups().into_iter().flatten();
        let path = groups.into_iter().find(|group| group.hierarchy == 0);
        Some(Self {
            pid,
            program: process.stat().ok()?.comm,
            level: in_effect.of(pid).map(|group| group.level),
            unit: path.map_or("/".to_owned(), |group| unit(&group.pathname).to_owned()),
        })
    }
}

/// By inode of the socket. Of those that several processes share, the one with the lowest number; those of other users
/// are only told to root.
pub fn owners() -> HashMap<u32, Owner> {
    let mut found: HashMap<u32, Owner> = HashMap::new();
    let in_effect = InEffect::read();
    for process in all_processes().into_iter().flatten().flatten() {
        let sockets = sockets(&process);
        if sockets.is_empty() {
            continue;
        }
        let Some(owner) = Owner::look(&process, &in_effect) else {
            continue;
        };
        for inode in sockets {
            match found.get(&inode) {
                Some(other) if other.pid < owner.pid => {}
                _ => {
                    found.insert(inode, owner.clone());
                }
            }
        }
    }
    found
}

/// Inodes of the sockets that a process has open; none where they are not told.
pub fn sockets_of(pid: u32) -> HashSet<u32> {
    told_sockets_of(pid).unwrap_or_default()
}

/// The same; `None` where they are not told.
pub(crate) fn told_sockets_of(pid: u32) -> Option<HashSet<u32>> {
    let process = Process::new(i32::try_from(pid).ok()?).ok()?;
    process.fd().ok()?;
    Some(sockets(&process).into_iter().collect())
}

/// The name of a program, as the kernel cuts it; `None` when there is no such process.
pub fn name_of(pid: u32) -> Option<String> {
    let process = Process::new(i32::try_from(pid).ok()?).ok()?;
    Some(process.stat().ok()?.comm)
}

fn sockets(process: &Process) -> Vec<u32> {
    let open = process.fd().into_iter().flatten().flatten();
    let inode = |target| match target {
        FDTarget::Socket(inode) => u32::try_from(inode).ok(),
        _ => None,
    };
    open.filter_map(|fd| inode(fd.target)).collect()
}

fn unit(path: &str) -> &str {
    let is_unit = |part: &&str| [".service", ".scope", ".slice"].iter().any(|end| part.ends_with(end));
    path.rsplit('/').find(is_unit).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn units() {
        assert_eq!(unit("/system.slice/nginx.service"), "nginx.service");
        assert_eq!(unit("/user.slice/user-1.slice/session-2.scope/x"), "session-2.scope");
        assert_eq!(unit("/kubepods/pod1/abc"), "/kubepods/pod1/abc");
        assert_eq!(unit("/"), "/");
    }

    #[test]
    fn a_socket_of_this_process() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let number = rustix::fs::fstat(socket.as_fd()).expect("it is open").st_ino;
        let owners = owners();
        let owner = owners.get(&(number as u32)).expect("this process");
        assert_eq!(owner.pid, std::process::id());
        let own = std::fs::read_to_string("/proc/self/comm").expect("/proc");
        assert_eq!(owner.program, own.trim_end());
    }
}
