// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Connections that nobody has accepted yet, by an iterator of eBPF that is loaded for one pass
//! (transport/policy/waiting.bpf.c).

use std::io::{self, Read};

use libbpf_rs::{Iter, MapCore, MapFlags, Object};

use super::process::Process;
use super::socket::Tcp;
use crate::shared::{waiting_choices, waiting_counters, WAITING_LISTENERS};
use crate::{object, pins, Error, Result};

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/waiting.bpf.o"));
const PROGRAM: &str = "each";
/// The end of the name of the section that they are in.
const CHOICES: &str = ".rodata.waiting";

/// Listening sockets of a process for which connections wait.
#[derive(Default)]
pub(super) struct Queue {
    listeners: Vec<u64>,
    connections: usize,
}

impl Queue {
    pub(super) fn add(&mut self, socket: &Tcp) {
        // One that cannot say is none of those that matter.
        let waiting = socket.waiting().unwrap_or(0);
        if let (1.., Ok(cookie)) = (waiting, socket.cookie()) {
            self.listeners.push(cookie);
            self.connections += waiting as usize;
        }
    }

    /// How many wait.
    pub(super) fn connections(&self) -> usize {
        self.connections
    }

    /// What waits becomes as chosen. Takes root.
    pub(super) fn turn(
        &self,
        process: &Process,
        choices: &waiting_choices,
    ) -> Result<waiting_counters> {
        let object = load(choices)?;
        for cookie in self.listeners.iter().take(WAITING_LISTENERS as usize) {
            map(&object, "listeners")
                .update(&cookie.to_ne_bytes(), &1u32.to_ne_bytes(), MapFlags::ANY)
                .map_err(Error::bpf("ask for a listening socket"))?;
        }
        let mut programs = object.progs_mut();
        let program = programs.find(|program| program.name() == PROGRAM);
        let link = program
            .expect("the object has its program")
            .attach()
            .map_err(Error::bpf("attach the iterator of TCP sockets"))?;
        let pass = || {
            let mut all = Iter::new(&link).map_err(io::Error::other)?;
            all.read_to_end(&mut Vec::new())
        };
        let passed = process.in_its_network(pass);
        passed.map_err(|why| Error::Unreachable(process.number(), why))?;
        let counters = map(&object, ".data").lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let bytes = counters.map_err(Error::bpf("read what the iterator did"))?;
        let bytes = bytes.expect("an array has all its entries");
        // SAFETY: the object's .data is this structure, of integers; its bytes need not be aligned.
        Ok(unsafe { bytes.as_ptr().cast::<waiting_counters>().read_unaligned() })
    }
}

/// With the maps that are shared with what is loaded; those that are not there are its own, and empty.
fn load(choices: &waiting_choices) -> Result<Object> {
    let shared = [
        ("moved", pins::moved()),
        ("wishes", pins::receiver_wishes()),
        ("connections", pins::receiver_adopted()),
        ("of_cgroups", pins::receiver_connections()),
        (".bss", pins::receiver_counters()),
    ];
    let there = shared.iter().filter(|(_, pin)| pin.exists());
    let there: Vec<_> = there.map(|(name, pin)| (*name, pin.as_path())).collect();
    let mut open = object::open("the iterator of TCP sockets", OBJECT, &there, &[])?;
    for mut map in open.maps_mut() {
        if map.name().to_string_lossy().ends_with(CHOICES) {
            // SAFETY: a structure of integers without gaps.
            let bytes = unsafe {
                let start = (&raw const *choices).cast::<u8>();
                std::slice::from_raw_parts(start, size_of_val(choices))
            };
            let value = map.initial_value_mut().expect("the object has its choices");
            value[..bytes.len()].copy_from_slice(bytes);
        }
    }
    open.load()
        .map_err(Error::bpf("load the iterator of TCP sockets"))
}

fn map<'a>(object: &'a Object, end: &str) -> libbpf_rs::Map<'a> {
    let found = |map: &libbpf_rs::Map| map.name().to_string_lossy().ends_with(end);
    let all = object.maps().find(found);
    all.expect("the object has its maps")
}
