// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Unix sockets, and which of two ends is a daemon or an ssh master that sends for the other.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use netlink_packet_core::{NetlinkHeader, NetlinkMessage, NetlinkPayload, NLM_F_DUMP, NLM_F_REQUEST};
use netlink_packet_sock_diag::unix::nlas::{Nla, UnixDiagName};
use netlink_packet_sock_diag::unix::{ShowFlags, StateFlags, UnixRequest, UnixResponse};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::Socket;

use super::way::Way;
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
    let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.bind_auto()?;
    socket.connect(&netlink_sys::SocketAddr::new(0, 0))?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let request = UnixRequest {
        state_flags: StateFlags::ESTABLISHED,
        inode: 0,
        show_flags: ShowFlags::NAME | ShowFlags::PEER,
        cookie: [0xff; 8],
    };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::UnixRequest(request).into());
    message.finalize();
    let mut buffer = vec![0; message.buffer_len()];
    message.serialize(&mut buffer);
    socket.send(&buffer, 0)?;
    let mut found = HashMap::new();
    loop {
        let (datagram, _) = socket.recv_from_full()?;
        if !read(&datagram, &mut found)? {
            return Ok(found);
        }
    }
}

/// False after the last message.
fn read(datagram: &[u8], found: &mut HashMap<u32, Unix>) -> io::Result<bool> {
    let mut rest = datagram;
    while !rest.is_empty() {
        let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(io::Error::other)?;
        let length = (message.header.length as usize).next_multiple_of(4).min(rest.len());
        match message.payload {
            NetlinkPayload::InnerMessage(SockDiagMessage::UnixResponse(response)) => {
                found.insert(response.header.inode, of(&response));
            }
            NetlinkPayload::Done(_) => return Ok(false),
            NetlinkPayload::Error(e) => return Err(e.to_io()),
            _ => {}
        }
        if length == 0 {
            break;
        }
        rest = &rest[length..];
    }
    Ok(true)
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
