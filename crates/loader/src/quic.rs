// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Programs in the background that do without QUIC, so that they use TCP, which yields: datagrams to its port are
//! refused to them.
//!
//! The programs that refuse are loaded at the first wish, as they cost every datagram of the machine a call.

use std::fs::File;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use libbpf_rs::{MapCore, MapFlags};

use crate::cgroup::Hierarchy;
use crate::lock::Lock;
use crate::shared::{quic_counters, NN_QUIC_PORT};
use crate::{object, pins, Error, Result};

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/quic.bpf.o"));
/// Last those for datagrams without a connection: with them all are there.
const PROGRAMS: [&str; 4] = ["quic_connect4", "quic_connect6", "quic_sendmsg4", "quic_sendmsg6"];
const PORT: u16 = NN_QUIC_PORT as u16;

/// Are they loaded? For callers that may look.
pub fn refusing() -> bool {
    links().all(|link| link.exists())
}

/// Sees to it that they are; netnice is up.
pub fn refuse() -> Result<()> {
    if !refusing() {
        let _lock = Lock::take()?;
        load(&Hierarchy::find()?)?;
    }
    Ok(())
}

/// Is this process refused QUIC? Nothing is sent: nothing else refuses the connection of a UDP socket.
pub fn is_refused() -> bool {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
    let done = socket.and_then(|socket| socket.connect((Ipv4Addr::LOCALHOST, PORT)));
    done.is_err_and(|why| why.kind() == ErrorKind::ConnectionRefused)
}

/// How many datagrams, and connections of UDP sockets; `None` when they are not loaded or it may not be read.
pub(crate) fn refused() -> Option<u64> {
    let value = pins::map(&pins::quic_counters())?
        .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
        .ok()??;
    let bytes = value.get(..size_of::<quic_counters>())?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

pub(crate) fn links() -> impl Iterator<Item = PathBuf> {
    PROGRAMS.into_iter().map(pins::quic_link)
}

/// For the holder of the lock. True when they were not there.
pub(crate) fn load(hierarchy: &Hierarchy) -> Result<bool> {
    if refusing() {
        return Ok(false);
    }
    if !pins::processes().exists() {
        return Err(Error::RootIsTaken);
    }
    for link in links() {
        pins::remove_link(&link)?; // of one that was ended halfway
    }
    let counters = pins::quic_counters();
    pins::remove_file(&counters)?;
    let open = object::open(
        "the eBPF programs that refuse QUIC",
        OBJECT,
        &[("processes", &pins::processes()), ("attached", &pins::attached())],
        &[(".bss", &counters)],
    )?;
    let root = File::open(hierarchy.root()).map_err(Error::file("open the root of the cgroups", hierarchy.root()))?;
    let loaded = open
        .load()
        .map_err(Error::bpf("load the eBPF programs that refuse QUIC"))?;
    for name in PROGRAMS {
        let program = loaded.progs_mut().find(|program| program.name() == name);
        let program = program.expect("the object has the programs of its list");
        let mut link = program
            .attach_cgroup(root.as_raw_fd())
            .map_err(Error::bpf(format!("attach '{name}' for all users")))?;
        link.pin(pins::quic_link(name))
            .map_err(Error::bpf("pin the eBPF programs that refuse QUIC"))?;
    }
    Ok(true)
}
