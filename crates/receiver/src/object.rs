// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The object in the kernel: loaded once, attached to any number of cgroups.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder};
use serde::Serialize;

use crate::{Error, Result, OBJECT};

/// Lets kernels that insist on aligned memory (User-Mode Linux) take the programs.
const ANY_ALIGNMENT: u32 = 2;
/// The programs that are attached to a cgroup.
pub const PROGRAMS: [&str; 2] = ["arrival", "connection"];

/// The loaded programs and maps. They live as long as this, or as a pinned link or map.
pub struct Receiver(Object);

impl Receiver {
    /// Loads the object.
    pub fn load() -> Result<Self> {
        let mut open = ObjectBuilder::default()
            .name("netnice_receiver")
            .and_then(|builder| builder.open_memory(OBJECT))
            .map_err(Error::bpf("open the receiver object"))?;
        for mut program in open.progs_mut() {
            program.set_flags(ANY_ALIGNMENT);
        }
        open.load()
            .map(Self)
            .map_err(Error::bpf("load the receiver"))
    }

    /// Gives the cgroup's future connections to the receiver; each link is handed to `keep` with its name.
    pub fn attach(
        &mut self,
        cgroup: &Path,
        keep: &mut dyn FnMut(&str, Link) -> Result<()>,
    ) -> Result<()> {
        let dir = File::open(cgroup).map_err(|why| Error::File {
            path: cgroup.into(),
            why,
        })?;
        for program in self.0.progs_mut() {
            let name = program.name().to_string_lossy().into_owned();
            if PROGRAMS.contains(&name.as_str()) {
                let link = program
                    .attach_cgroup(dir.as_raw_fd())
                    .map_err(Error::bpf("attach the receiver to a cgroup"))?;
                keep(&name, link)?;
            }
        }
        Ok(())
    }

    /// Pins the maps under the names that [`crate::Params::open`] and [`Counters::read`] take.
    pub fn pin_maps(
        &mut self,
        params: &Path,
        counters: &Path,
        connections: Option<&Path>,
    ) -> Result<()> {
        for mut map in self.0.maps_mut() {
            let name = map.name().to_string_lossy().into_owned();
            let path = match name.as_str() {
                n if n.ends_with(".data") => Some(params),
                n if n.ends_with(".bss") => Some(counters),
                "connections" => connections,
                _ => None,
            };
            if let Some(path) = path {
                map.pin(path)
                    .map_err(Error::bpf("pin a map of the receiver"))?;
            }
        }
        Ok(())
    }
}

/// What the receiver saw since it was loaded; the order is that of struct receiver_counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    pub connections: u64,
    pub segments: u64,
    pub unstamped: u64,
    pub clamp_failed: u64,
}

impl Counters {
    /// Reads them from the pinned map; `None` when it cannot be read.
    pub fn read(pin: &Path) -> Option<Self> {
        let map = MapHandle::from_pinned_path(pin).ok()?;
        let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
        let mut words = value
            .chunks_exact(8)
            .map(|w| u64::from_ne_bytes(w.try_into().expect("eight bytes")));
        Some(Self {
            connections: words.next()?,
            segments: words.next()?,
            unstamped: words.next()?,
            clamp_failed: words.next()?,
        })
    }
}
