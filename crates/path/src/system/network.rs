// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Devices, addresses and routes: TUN, netlink, and two network namespaces at a time.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{anyhow, bail, Context, Error, Result};
use netlink_packet_core::{
    NetlinkHeader, NetlinkMessage, NetlinkPayload, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use nix::ifaddrs::getifaddrs;
use nix::sched::{setns, unshare, CloneFlags};
use procfs::process::Process;

use crate::address::{Block, RANGE};

/// Says what takes root, and how COMMAND goes on without.
fn needs_root<E: Display>(what: &'static str) -> impl FnOnce(E) -> Error {
    move |why| {
        anyhow!(
            "{what}: {why}.\nA path needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN. \
             COMMAND keeps your own rights by:\n  sudo netnice-path … -- sudo -u $USER COMMAND"
        )
    }
}

/// The calling process's network namespace.
pub fn current() -> Result<File> {
    File::open("/proc/self/ns/net").context("cannot open /proc/self/ns/net; is /proc mounted?")
}

/// A namespace by its name in /run/netns, or by a path.
pub fn named(name: &str) -> Result<File> {
    let path = if name.contains('/') {
        name.into()
    } else {
        Path::new("/run/netns").join(name)
    };
    File::open(&path).with_context(|| {
        format!(
            "no network namespace {}; make one with 'ip netns add {name}'",
            path.display()
        )
    })
}

/// Moves the process into a namespace.
pub fn enter(namespace: &File) -> Result<()> {
    setns(namespace, CloneFlags::CLONE_NEWNET).map_err(needs_root("cannot enter the network namespace"))
}

/// Moves the process into a new, unnamed namespace: it goes with its last process.
pub fn enter_new() -> Result<()> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(needs_root("cannot make a network namespace"))
}

/// Makes the current namespace a router, so that paths started inside reach beyond it.
pub fn forward_packets() -> Result<()> {
    set("ipv4/ip_forward", "1").context("cannot turn on IPv4 forwarding in the new namespace")?;
    // Without IPv6 there is nothing to forward.
    set("ipv6/conf/all/forwarding", "1").ok();
    Ok(())
}

/// Keeps the kernel's own IPv6 chatter (router solicitations, link-local set-up) off a device.
pub fn silence(device: &str) {
    for (key, value) in [
        ("addr_gen_mode", "1"),
        ("router_solicitations", "0"),
        ("accept_ra", "0"),
    ] {
        // Without IPv6 there is no chatter.
        set(&format!("ipv6/conf/{device}/{key}"), value).ok();
    }
}

fn set(key: &str, value: &str) -> std::io::Result<()> {
    fs::write(Path::new("/proc/sys/net").join(key), value)
}

/// Where the current namespace stands among paths.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// The block of the path it is inside of.
    pub own: Option<Block>,
    /// What its addresses and routes use.
    pub taken: Vec<Block>,
}

/// Reads the current namespace's routes and addresses.
pub fn surroundings() -> Result<Surroundings> {
    let mut found = Surroundings::default();
    let routes = Process::myself().and_then(|own| own.route());
    for route in routes.context("cannot read the routes")? {
        let prefix = u32::from(route.mask).leading_ones() as u8;
        let block = Block::new(route.destination, prefix);
        if block.prefix() == 0 {
            continue;
        }
        if route.flags & libc::RTF_REJECT != 0 && RANGE.contains(block) {
            found.own = Some(block);
        } else {
            found.taken.push(block);
        }
    }
    for address in getifaddrs().context("cannot list the addresses")? {
        if let Some(v4) = address.address.as_ref().and_then(|a| a.as_sockaddr_in()) {
            found.taken.push(Block::new(v4.ip(), 32));
        }
    }
    Ok(found)
}

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
        Ok(Netlink { socket, sequence: 0 })
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
        address.attributes = vec![AddressAttribute::Local(local), AddressAttribute::Address(peer)];
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
    fn request(&mut self, what: RouteNetlinkMessage, flags: u16) -> io::Result<Option<RouteNetlinkMessage>> {
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

const DEVICE: &str = "/dev/net/tun";
/// The kernel fills in the first free number.
const NAME: &[u8] = b"nnp%d\0";

nix::ioctl_write_ptr_bad!(tun_set_interface, libc::TUNSETIFF, libc::ifreq);

/// A TUN device; it goes when this value, or the process, does.
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
}

impl Tun {
    /// Makes a device in the calling thread's network namespace. It is not up yet.
    pub fn create() -> Result<Tun> {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(DEVICE);
        let file = match opened {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => bail!(
                "{DEVICE} does not exist, so no TUN device can be made; \
                 try 'modprobe tun', or in a container start it with '--device {DEVICE}'"
            ),
            Err(e) => return Err(needs_root("cannot open /dev/net/tun")(e)),
        };
        // SAFETY: an all-zero ifreq is valid.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(NAME) {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the fd is open and the request lives through the call.
        unsafe { tun_set_interface(file.as_raw_fd(), &raw const request) }
            .map_err(needs_root("cannot make a TUN device"))?;
        let name = request
            .ifr_name
            .iter()
            .take_while(|&&c| c != 0)
            .map(|&c| c as u8 as char)
            .collect();
        Ok(Tun { file, name })
    }

    /// The interface's name in its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads one packet, or `None` when none waits.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(buffer) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == ErrorKind::WouldBlock || e.kind() == ErrorKind::Interrupted => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Hands one packet to the kernel.
    pub fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.file.write(packet).map(drop)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
