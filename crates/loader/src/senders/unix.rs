// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Unix sockets, and which of two ends is a daemon or an ssh master that sends for the other.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use netlink_packet_sock_diag::unix::nlas::{Nla, UnixDiagName};
use netlink_packet_sock_diag::unix::{ShowFlags, StateFlags, UnixRequest, UnixResponse};
use netlink_packet_sock_diag::SockDiagMessage;

use super::way::Way;
use crate::sock_diag;
use crate::sockets::Owner;

/// How the paths of sockets end behind which a daemon fetches or sends for its clients.
const DAEMONS: [&str; 9] = [
    "docker.sock",
    "podman.sock",
    "containerd.sock",
    "crio.sock",
    "buildkitd.sock",
    "nix/daemon-socket/socket",
    "snapd.socket",
    "snapd-snap.socket",
    "libvirt-sock",
];

/// A connected one.
#[derive(Debug, Default)]
pub(super) struct Unix {
    pub peer: Option<u32>,
    pub path: Option<PathBuf>,
}

/// By what way the owner of the other end sends for a program; `None`: it does not.
pub(super) fn way(program: Option<&str>, owner: Option<&Owner>, path: Option<&Path>) -> Option<Way> {
    if program == Some("ssh") && owner.is_some_and(|owner| owner.program == "ssh") {
        return Some(Way::SshMaster);
    }
    let path = path.filter(|path| DAEMONS.iter().any(|end| path.ends_with(end)))?;
    Some(Way::Daemon(path.to_owned()))
}

/// Of this network namespace, by inode.
pub(super) fn sockets() -> io::Result<HashMap<u32, Unix>> {
    let request = UnixRequest {
        state_flags: StateFlags::ESTABLISHED,
        inode: 0,
        show_flags: ShowFlags::NAME | ShowFlags::PEER,
        cookie: [0xff; 8],
    };
    let mut found = HashMap::new();
    sock_diag::dump(SockDiagMessage::UnixRequest(request), &mut |answer| {
        if let SockDiagMessage::UnixResponse(response) = answer {
            found.insert(response.header.inode, of(&response));
        }
    })?;
    Ok(found)
}

fn of(response: &UnixResponse) -> Unix {
    let name = response.nlas.iter().find_map(|nla| match nla {
        Nla::Name(UnixDiagName::Pathname(path)) => Some(PathBuf::from(path)),
        _ => None,
    });
    Unix {
        peer: response.peer(),
        path: name,
    }
}
