// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Whose a socket is: what /proc tells of the processes that have it open.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::cgroup::Group;

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
    fn look(process: &Path, pid: u32) -> Option<Self> {
        let program = fs::read_to_string(process.join("comm")).ok()?;
        let groups = fs::read_to_string(process.join("cgroup")).unwrap_or_default();
        let path = groups.lines().find_map(|line| line.strip_prefix("0::"));
        Some(Self {
            pid,
            program: program.trim_end().to_owned(),
            unit: unit(path.unwrap_or("/")).to_owned(),
            level: Group::of_process(pid).ok().flatten().map(|g| g.level),
        })
    }
}

/// By inode of the socket. Of those that several processes share, the one with the lowest number; those of other users
/// are only told to root.
pub fn owners() -> HashMap<u32, Owner> {
    let mut found: HashMap<u32, Owner> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|n| n.parse().ok());
        let Some(pid) = pid else { continue };
        let sockets = sockets_of(&entry.path());
        if sockets.is_empty() {
            continue;
        }
        let Some(owner) = Owner::look(&entry.path(), pid) else {
            continue;
        };
        for inode in sockets {
            match found.get(&inode) {
                Some(other) if other.pid < pid => {}
                _ => {
                    found.insert(inode, owner.clone());
                }
            }
        }
    }
    found
}

fn sockets_of(process: &Path) -> Vec<u32> {
    let open = fs::read_dir(process.join("fd")).into_iter().flatten();
    open.flatten()
        .filter_map(|fd| inode(fs::read_link(fd.path()).ok()?.to_str()?))
        .collect()
}

fn inode(target: &str) -> Option<u32> {
    let number = target.strip_prefix("socket:[")?.strip_suffix(']')?;
    number.parse().ok()
}

fn unit(path: &str) -> &str {
    let is_unit = |part: &&str| {
        [".service", ".scope", ".slice"]
            .iter()
            .any(|end| part.ends_with(end))
    };
    path.rsplit('/').find(is_unit).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn units() {
        assert_eq!(unit("/system.slice/nginx.service"), "nginx.service");
        assert_eq!(
            unit("/user.slice/user-1.slice/session-2.scope/x"),
            "session-2.scope"
        );
        assert_eq!(unit("/kubepods/pod1/abc"), "/kubepods/pod1/abc");
        assert_eq!(unit("/"), "/");
    }

    #[test]
    fn a_socket_of_this_process() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let link = fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd()));
        let number = inode(link.expect("it is open").to_str().expect("text")).expect("a socket");
        assert_eq!(
            owners().get(&number).map(|o| o.pid),
            Some(std::process::id())
        );
        assert_eq!(inode("pipe:[1]"), None);
    }
}
