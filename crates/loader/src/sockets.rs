// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The TCP sockets of this network namespace, as the kernel tells of them.

use std::collections::BTreeMap;
use std::io;

use netlink_packet_core::{
    NetlinkHeader, NetlinkMessage, NetlinkPayload, NLM_F_DUMP, NLM_F_REQUEST,
};
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr};

use crate::{Error, Result};

/// Connections that exist, by the name of their congestion control. Listeners are none.
pub fn by_congestion_control() -> Result<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    each(ExtensionFlags::CONG, &mut |response| {
        if let Some(name) = congestion_control(&response) {
            *counts.entry(name).or_insert(0) += 1;
        }
    })?;
    Ok(counts)
}

/// All that are no listeners, of both families, with the extensions asked for.
pub(crate) fn each(
    extensions: ExtensionFlags,
    on_socket: &mut dyn FnMut(InetResponse),
) -> Result<()> {
    for (family, id) in [
        (AF_INET, SocketId::new_v4()),
        (AF_INET6, SocketId::new_v6()),
    ] {
        dump(family, id, extensions.clone(), on_socket).map_err(Error::Sockets)?;
    }
    Ok(())
}

pub(crate) fn congestion_control(response: &InetResponse) -> Option<String> {
    response.nlas.iter().find_map(|nla| match nla {
        Nla::Congestion(name) => Some(name.trim_end_matches('\0').to_owned()),
        _ => None,
    })
}

fn dump(
    family: u8,
    socket_id: SocketId,
    extensions: ExtensionFlags,
    on_socket: &mut dyn FnMut(InetResponse),
) -> io::Result<()> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let request = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions,
        states: StateFlags::all() & !StateFlags::LISTEN,
        socket_id,
    };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut buffer = vec![0; message.buffer_len()];
    message.serialize(&mut buffer);
    socket.send(&buffer, 0)?;
    loop {
        let (datagram, _) = socket.recv_from_full()?;
        if !read(&datagram, on_socket)? {
            return Ok(());
        }
    }
}

// Several messages a datagram; false after the last of them.
fn read(datagram: &[u8], on_socket: &mut dyn FnMut(InetResponse)) -> io::Result<bool> {
    let mut rest = datagram;
    while !rest.is_empty() {
        let message =
            NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(io::Error::other)?;
        let length = (message.header.length as usize)
            .next_multiple_of(4)
            .min(rest.len());
        match message.payload {
            NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                on_socket(*response);
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
