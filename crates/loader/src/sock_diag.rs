// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Dumps of the kernel's sockets by netlink: a request, and the answers to it.

use std::io;

use netlink_packet_core::{NetlinkHeader, NetlinkMessage, NetlinkPayload, NLM_F_DUMP, NLM_F_REQUEST};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::Socket;

/// Asks for sockets of this network namespace, and hands over each answer.
pub(crate) fn dump(request: SockDiagMessage, on_answer: &mut dyn FnMut(SockDiagMessage)) -> io::Result<()> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.bind_auto()?;
    socket.connect(&netlink_sys::SocketAddr::new(0, 0))?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let mut message = NetlinkMessage::new(header, request.into());
    message.finalize();
    let mut buffer = vec![0; message.buffer_len()];
    message.serialize(&mut buffer);
    socket.send(&buffer, 0)?;
    loop {
        let (datagram, _) = socket.recv_from_full()?;
        if !read(&datagram, on_answer)? {
            return Ok(());
        }
    }
}

/// Several messages a datagram; false after the last of them.
fn read(datagram: &[u8], on_answer: &mut dyn FnMut(SockDiagMessage)) -> io::Result<bool> {
    let mut rest = datagram;
    while !rest.is_empty() {
        let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(io::Error::other)?;
        let length = (message.header.length as usize).next_multiple_of(4).min(rest.len());
        match message.payload {
            NetlinkPayload::InnerMessage(answer) => on_answer(answer),
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
