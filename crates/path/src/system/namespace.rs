// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Network namespaces. Only the network part is ever entered: mounts, so cgroups and bpffs, stay as they are.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};
use nix::ifaddrs::getifaddrs;
use nix::sched::{setns, unshare, CloneFlags};
use procfs::process::Process;

use crate::address::{Block, RANGE};

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
    setns(namespace, CloneFlags::CLONE_NEWNET)
        .context("cannot enter the network namespace; this needs root")
}

/// Moves the process into a new, unnamed namespace: it goes with its last process.
pub fn enter_new() -> Result<()> {
    unshare(CloneFlags::CLONE_NEWNET)
        .context("cannot make a network namespace; this needs root or CAP_SYS_ADMIN")
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
