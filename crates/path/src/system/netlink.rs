// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The few rtnetlink requests a path needs (rtnetlink(7)), each waiting for the kernel's answer.
//!
//! By hand rather than by the `ip` command: it need not be installed, and forty processes a test run would
//! cost more than all else here.

use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{
    recv, sendmsg, socket, AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType,
};

const HEADER: usize = 16;
const ROUTE_LINK_STATS: usize = 7 * 8;

/// A route socket; it belongs to the namespace it was opened in, wherever the process goes.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// Where a route leads.
#[derive(Debug, Clone, Copy)]
pub enum Via {
    Device(u32),
    Unreachable,
}

impl Netlink {
    /// Opens a socket in the current network namespace.
    pub fn open() -> io::Result<Netlink> {
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkRoute,
        )?;
        Ok(Netlink {
            socket,
            sequence: 0,
        })
    }

    /// Brings a device up, with a queue of `queue` packets when given.
    pub fn up(&mut self, index: u32, queue: Option<u32>) -> io::Result<()> {
        let mut body = link_message(index);
        if let Some(queue) = queue {
            attribute(&mut body, libc::IFLA_TXQLEN, &queue.to_ne_bytes());
        }
        self.request(libc::RTM_NEWLINK, 0, body).map(drop)
    }

    /// Gives a device one address of a point-to-point link.
    pub fn add_address(&mut self, index: u32, local: IpAddr, peer: IpAddr) -> io::Result<()> {
        let (family, bits) = family(local);
        let mut body = vec![
            family,
            bits,
            libc::IFA_F_NODAD as u8,
            libc::RT_SCOPE_UNIVERSE,
        ];
        body.extend(index.to_ne_bytes());
        attribute(&mut body, libc::IFA_LOCAL, &octets(local));
        attribute(&mut body, libc::IFA_ADDRESS, &octets(peer));
        self.request(
            libc::RTM_NEWADDR,
            libc::NLM_F_CREATE | libc::NLM_F_EXCL,
            body,
        )
        .map(drop)
    }

    /// Adds a route; `AlreadyExists` when there is one for the same prefix.
    pub fn add_route(&mut self, to: IpAddr, prefix: u8, via: Via) -> io::Result<()> {
        let (kind, scope) = match via {
            Via::Device(_) => (libc::RTN_UNICAST, libc::RT_SCOPE_LINK),
            Via::Unreachable => (libc::RTN_UNREACHABLE, libc::RT_SCOPE_UNIVERSE),
        };
        let table = libc::RT_TABLE_MAIN;
        let mut body = vec![
            family(to).0,
            prefix,
            0,
            0,
            table,
            libc::RTPROT_STATIC,
            scope,
            kind,
            0,
            0,
            0,
            0,
        ];
        if prefix > 0 {
            attribute(&mut body, libc::RTA_DST, &octets(to));
        }
        if let Via::Device(index) = via {
            attribute(&mut body, libc::RTA_OIF, &index.to_ne_bytes());
        }
        self.request(
            libc::RTM_NEWROUTE,
            libc::NLM_F_CREATE | libc::NLM_F_EXCL,
            body,
        )
        .map(drop)
    }

    /// Packets the kernel dropped because the device's queue was full.
    pub fn transmit_drops(&mut self, index: u32) -> io::Result<u64> {
        let mut body = link_message(index);
        body[8..].fill(0);
        let answer = self.request(libc::RTM_GETLINK, 0, body)?;
        let stats = attributes(answer.get(16..).unwrap_or_default())
            .find(|(kind, _)| *kind == libc::IFLA_STATS64)
            .and_then(|(_, value)| value.get(ROUTE_LINK_STATS..ROUTE_LINK_STATS + 8));
        let bytes = stats.ok_or_else(|| io::Error::other("the kernel gave no statistics"))?;
        Ok(u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
    }

    fn request(&mut self, kind: u16, flags: i32, body: Vec<u8>) -> io::Result<Vec<u8>> {
        self.sequence += 1;
        // A GET answers with data, everything else with an acknowledgement.
        let answer = if kind == libc::RTM_GETLINK {
            0
        } else {
            libc::NLM_F_ACK
        };
        let flags = (flags | libc::NLM_F_REQUEST | answer) as u16;
        let mut message = Vec::with_capacity(HEADER + body.len());
        message.extend(((HEADER + body.len()) as u32).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend(self.sequence.to_ne_bytes());
        message.extend(0u32.to_ne_bytes());
        message.extend(body);
        let (socket, kernel) = (self.socket.as_raw_fd(), NetlinkAddr::new(0, 0));
        sendmsg(
            socket,
            &[IoSlice::new(&message)],
            &[],
            MsgFlags::empty(),
            Some(&kernel),
        )?;
        let mut answer = vec![0; 16384];
        let length = recv(socket, &mut answer, MsgFlags::empty())?;
        answer.truncate(length);
        check(answer)
    }
}

/// Turns the kernel's error answer into an error; gives back the body of any other.
fn check(answer: Vec<u8>) -> io::Result<Vec<u8>> {
    let short = || io::Error::other("the kernel's answer is too short");
    let kind = answer
        .get(4..6)
        .map(|b| u16::from_ne_bytes([b[0], b[1]]))
        .ok_or_else(short)?;
    let body = answer.get(HEADER..).ok_or_else(short)?;
    if i32::from(kind) == libc::NLMSG_ERROR {
        let code = body.get(..4).ok_or_else(short)?;
        let code = i32::from_ne_bytes(code.try_into().expect("four bytes"));
        if code != 0 {
            return Err(io::Error::from_raw_os_error(-code));
        }
    }
    Ok(body.to_vec())
}

fn link_message(index: u32) -> Vec<u8> {
    let up = (libc::IFF_UP as u32).to_ne_bytes();
    let mut body = vec![libc::AF_UNSPEC as u8, 0, 0, 0];
    body.extend(index.to_ne_bytes());
    body.extend(up);
    body.extend(up);
    body
}

fn attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    body.extend((4 + value.len() as u16).to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes([*rest.first()?, *rest.get(1)?]));
        let kind = u16::from_ne_bytes([*rest.get(2)?, *rest.get(3)?]);
        let value = rest.get(4..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

fn family(address: IpAddr) -> (u8, u8) {
    match address {
        IpAddr::V4(_) => (libc::AF_INET as u8, 32),
        IpAddr::V6(_) => (libc::AF_INET6 as u8, 128),
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}
