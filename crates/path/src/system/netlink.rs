// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The few rtnetlink requests a path needs (rtnetlink(7)), each waiting for the kernel's answer.
//!
//! Rather than by the `ip` command: it need not be installed, and forty processes a test run would cost more than all
//! else here.

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{
    NetlinkHeader, NetlinkMessage, NetlinkPayload, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL,
    NLM_F_REQUEST,
};
use netlink_packet_route::address::{
    AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope,
};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// A route socket; it belongs to the namespace it was opened in, wherever the process goes.
#[derive(Debug)]
pub struct Netlink {
    socket: Socket,
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
        let socket = Socket::new(NETLINK_ROUTE)?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Netlink {
            socket,
            sequence: 0,
        })
    }

    /// Brings a device up, with a queue of `queue` packets when given.
    pub fn up(&mut self, index: u32, queue: Option<u32>) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        link.attributes = queue.map(LinkAttribute::TxQueueLen).into_iter().collect();
        self.change(RouteNetlinkMessage::NewLink(link), 0)
    }

    /// Gives a device one address of a point-to-point link.
    pub fn add_address(&mut self, index: u32, local: IpAddr, peer: IpAddr) -> io::Result<()> {
        let mut address = AddressMessage::default();
        (address.header.family, address.header.prefix_len) = family(local);
        address.header.flags = AddressHeaderFlags::Nodad;
        address.header.scope = AddressScope::Universe;
        address.header.index = index;
        address.attributes = vec![
            AddressAttribute::Local(local),
            AddressAttribute::Address(peer),
        ];
        self.change(RouteNetlinkMessage::NewAddress(address), NEW)
    }

    /// Adds a route; `AlreadyExists` when there is one for the same prefix.
    pub fn add_route(&mut self, to: IpAddr, prefix: u8, via: Via) -> io::Result<()> {
        let mut route = RouteMessage::default();
        route.header.address_family = family(to).0;
        route.header.destination_prefix_length = prefix;
        route.header.table = RouteHeader::RT_TABLE_MAIN;
        route.header.protocol = RouteProtocol::Static;
        (route.header.kind, route.header.scope) = match via {
            Via::Device(_) => (RouteType::Unicast, RouteScope::Link),
            Via::Unreachable => (RouteType::Unreachable, RouteScope::Universe),
        };
        if prefix > 0 {
            let to = RouteAttribute::Destination(to.into());
            route.attributes.push(to);
        }
        if let Via::Device(index) = via {
            route.attributes.push(RouteAttribute::Oif(index));
        }
        self.change(RouteNetlinkMessage::NewRoute(route), NEW)
    }

    /// Packets the kernel dropped because the device's queue was full.
    pub fn transmit_drops(&mut self, index: u32) -> io::Result<u64> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        let answer = self.request(RouteNetlinkMessage::GetLink(link), 0)?;
        let Some(RouteNetlinkMessage::NewLink(link)) = answer else {
            return Err(io::Error::other("the kernel told of no device"));
        };
        let dropped = link.attributes.into_iter().find_map(|one| match one {
            LinkAttribute::Stats64(stats) => Some(stats.tx_dropped),
            _ => None,
        });
        dropped.ok_or_else(|| io::Error::other("the kernel gave no statistics"))
    }

    fn change(&mut self, what: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.request(what, flags | NLM_F_ACK).map(drop)
    }

    /// The kernel's answer: nothing where it only acknowledges.
    fn request(
        &mut self,
        what: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<Option<RouteNetlinkMessage>> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = flags | NLM_F_REQUEST;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(what));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let answer = NetlinkMessage::deserialize(&answer).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::InnerMessage(found) => Ok(Some(found)),
            // An error of 0 is the acknowledgement.
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(None),
        }
    }
}

/// Not what is there already.
const NEW: u16 = NLM_F_CREATE | NLM_F_EXCL;

/// Its family, and the bits of an address.
fn family(address: IpAddr) -> (AddressFamily, u8) {
    match address {
        IpAddr::V4(_) => (AddressFamily::Inet, 32),
        IpAddr::V6(_) => (AddressFamily::Inet6, 128),
    }
}
