// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The two ends of a path: devices, addresses and routes in two namespaces.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anyhow::{bail, Context, Result};
use nix::net::if_::if_nametoindex;

use crate::address::{candidates, twin, Block};
use crate::system::network::{self, Netlink, Tun, Via};

/// Packets the kernel keeps until they are read: 70 ms of them at 139,000 a second.
const DEVICE_QUEUE: u32 = 10_000;
const LOOPBACK: u32 = 1;

/// One end of a path.
#[derive(Debug)]
pub struct End {
    pub tun: Tun,
    pub address: Ipv4Addr,
    /// `None` where the kernel has no IPv6.
    pub address6: Option<Ipv6Addr>,
    index: u32,
    netlink: Netlink,
}

/// Both ends: packets read from `a` go up, to `b`.
#[derive(Debug)]
pub struct Endpoints {
    pub a: End,
    pub b: End,
}

impl End {
    /// Makes a device in the current namespace and brings it up.
    fn create() -> Result<End> {
        let tun = Tun::create()?;
        network::silence(tun.name());
        let index = if_nametoindex(tun.name()).with_context(|| format!("device {} vanished", tun.name()))?;
        let mut netlink = Netlink::open().context("cannot open a netlink socket")?;
        netlink
            .up(index, Some(DEVICE_QUEUE))
            .with_context(|| format!("cannot bring device {} up; this needs CAP_NET_ADMIN", tun.name()))?;
        Ok(End {
            tun,
            address: Ipv4Addr::UNSPECIFIED,
            address6: None,
            index,
            netlink,
        })
    }

    /// Packets the kernel dropped because they were not read in time.
    pub fn missed(&mut self) -> u64 {
        // Without the device there is nothing to have missed.
        self.netlink.transmit_drops(self.index).unwrap_or(0)
    }

    fn give_address(&mut self, local: Ipv4Addr, peer: Ipv4Addr) -> Result<()> {
        let name = self.tun.name();
        self.netlink
            .add_address(self.index, local.into(), peer.into())
            .with_context(|| format!("cannot give device {name} the address {local}"))?;
        self.address = local;
        let (local, peer) = (twin(local), twin(peer));
        let given = self.netlink.add_address(self.index, local.into(), peer.into());
        if with_ipv6(given).with_context(|| format!("cannot give device {name} the address {local}"))? {
            self.address6 = Some(local);
        }
        Ok(())
    }

    /// Routes a block, and its IPv6 twin.
    fn route(&mut self, block: Block, via: Via) -> io::Result<()> {
        self.netlink.add_route(block.base().into(), block.prefix(), via)?;
        with_ipv6(self.netlink.add_route(block.base6().into(), block.prefix6(), via)).map(drop)
    }

    fn route_everything(&mut self) -> io::Result<()> {
        let via = Via::Device(self.index);
        self.netlink.add_route(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0, via)?;
        with_ipv6(self.netlink.add_route(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0, via)).map(drop)
    }

    /// Takes the first free block: a route that exists already means that another path was faster.
    fn claim(&mut self, free: &[Block]) -> Result<Block> {
        for &block in free {
            match self.route(block, Via::Device(self.index)) {
                Ok(()) => return Ok(block),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(e).context(format!("cannot route {block} to device {}", self.tun.name())),
            }
        }
        bail!("no address block is free here: too many paths at once, or 100.64.0.0/10 is routed; end some, or see 'ip route'")
    }
}

/// Makes a path to a new namespace, which is the current one afterwards; `a` is inside it.
pub fn nested() -> Result<Endpoints> {
    let here = network::surroundings()?;
    let mut b = End::create()?;
    let block = b.claim(&candidates(here.own, &here.taken)?)?;
    b.give_address(block.outer(), block.inner())?;

    network::enter_new()?;
    network::forward_packets()?;
    let mut a = End::create()?;
    a.netlink
        .up(LOOPBACK, None)
        .context("cannot bring lo up in the new namespace")?;
    a.give_address(block.inner(), block.outer())?;
    // Without it, packets to an unused part of the block would go back and forth.
    a.route(block, Via::Unreachable)
        .with_context(|| format!("cannot close off {block}"))?;
    a.route_everything()
        .context("cannot set the default route in the new namespace")?;
    Ok(Endpoints { a, b })
}

/// Makes a path between two namespaces and returns to the current one.
pub fn between(a: &File, b: &File) -> Result<Endpoints> {
    let home = network::current()?;
    network::enter(b)?;
    let mut taken = network::surroundings()?.taken;
    let mut b = End::create()?;
    network::enter(a)?;
    taken.extend(network::surroundings()?.taken);
    let mut a = End::create()?;
    let block = a.claim(&candidates(None, &taken)?)?;
    a.give_address(block.outer(), block.inner())?;
    b.route(block, Via::Device(b.index))
        .with_context(|| format!("cannot route {block} in the second namespace"))?;
    b.give_address(block.inner(), block.outer())?;
    network::enter(&home)?;
    Ok(Endpoints { a, b })
}

/// Whether an IPv6 request was done; a kernel without IPv6 is no failure.
fn with_ipv6(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(e) => match e.raw_os_error() {
            // The last two are what a kernel built with IPv6 says where it is disabled.
            Some(libc::EAFNOSUPPORT | libc::EOPNOTSUPP | libc::EACCES | libc::EPERM) => Ok(false),
            _ => Err(e),
        },
    }
}
