// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receiver side: an object for all cgroups whose incoming traffic yields, one for single sockets, and a socket option
//! for sockets in use.
//!
//! [`Receiver::load`] puts the object into the kernel, [`Receiver::attach`] gives it the connections that a cgroup opens
//! and accepts from then on, and pins keep it there. [`Receiver::load_adopted`] is the same for single sockets of any
//! cgroup. [`Params`] reads and sets what is tunable, live.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

use libbpf_rs::{MapCore, MapFlags, MapHandle, Object};
use rustix::time::{clock_getres, ClockId};
use serde::Serialize;

use crate::cgroup::Hierarchy;
use crate::error::quiet_libbpf;
use crate::group::Group;
use crate::lock::Lock;
use crate::object::{open, pin_of};
use crate::shared::receiver_counters;
use crate::table::{self, is_sound, Rows};
use crate::{pins, Error, Result, Step};

pub use crate::table::{Algorithm, Parameter, Values};

/// What the receiver does now.
#[derive(Debug, Clone, Serialize)]
pub struct ReceiverStatus {
    /// The algorithm, or "off".
    pub algorithm: &'static str,
    pub counters: Counters,
    /// Applications may say for their own sockets, and an up was asked for that.
    pub applications: bool,
}

/// `None` when it is not loaded or may not be read.
pub fn status() -> Option<ReceiverStatus> {
    pins::receiver_params().exists().then_some(())?;
    Some(ReceiverStatus {
        algorithm: Params::open(&pins::receiver_params()).ok()?.chosen(),
        counters: Counters::read(&pins::receiver_counters())?,
        applications: adopting(),
    })
}

pub(crate) fn load(hierarchy: &Hierarchy, on_step: &mut dyn FnMut(Step)) -> Result<()> {
    quiet_libbpf();
    let mut receiver = Receiver::load(&[
        ("moved", &pins::moved()),
        ("before", &pins::before()),
        ("floors", &pins::floors()),
        ("floor_of", &pins::floor_of()),
    ])?;
    receiver.pin_maps(
        &pins::receiver_params(),
        &pins::receiver_counters(),
        Some(&pins::receiver_connections()),
    )?;
    on_step(Step::ReceiverLoaded);
    for group in Group::all().filter(|g| g.direction.receives()) {
        let name = group.name();
        receiver.attach(&hierarchy.dir(group), &pins::receiver_link(&name, PROGRAM))?;
        on_step(Step::ReceiverAttached);
    }
    Ok(())
}

/// Single sockets of any cgroup yield by the niceness of their process: from the next connection on.
pub(crate) fn load_adopted(hierarchy: &Hierarchy) -> Result<()> {
    let mut adopted = Receiver::load_adopted(
        [
            &pins::receiver_params(),
            &pins::receiver_counters(),
            &pins::receiver_connections(),
            &pins::before(),
            &pins::floors(),
            &pins::floor_of(),
        ],
        [&pins::receiver_wishes(), &pins::receiver_adopted()],
    )?;
    adopted.attach(hierarchy.root(), &pins::adopted_link(ADOPTED_PROGRAM))
}

/// Sockets in use can be told to yield: by `netnice -p`, and by their application.
pub fn adopting() -> bool {
    pins::adopted_link(OPTION_PROGRAM).exists()
}

/// Sees to it that they can; netnice is up. True when they could not before.
pub(crate) fn adopt() -> Result<bool> {
    if adopting() {
        return Ok(false);
    }
    let _lock = Lock::take()?;
    load_option(&Hierarchy::find()?)
}

/// The same for the holder of the lock.
pub(crate) fn load_option(hierarchy: &Hierarchy) -> Result<bool> {
    if adopting() {
        return Ok(false);
    }
    quiet_libbpf();
    let mut option = Receiver::load_option([
        &pins::receiver_counters(),
        &pins::receiver_connections(),
        &pins::receiver_wishes(),
        &pins::receiver_adopted(),
        &pins::before(),
    ])?;
    option.attach(hierarchy.root(), &pins::adopted_link(OPTION_PROGRAM))?;
    Ok(true)
}

pub(super) const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/receiver.bpf.o"));
pub(super) const ADOPTED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/adopted.bpf.o"));
const OPTION: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/option.bpf.o"));
/// The ends of the names that libbpf gives to an object's variables.
const DATA: &str = ".data";
const BSS: &str = ".bss";
const CONSTANTS: &str = ".rodata";
/// Lets kernels that insist on aligned memory (User-Mode Linux) take the programs.
const ANY_ALIGNMENT: u32 = 2;
/// The program that is attached to a level's cgroup.
pub const PROGRAM: &str = "connection";
/// That for single sockets, at the root of the cgroups.
pub const ADOPTED_PROGRAM: &str = "adopted";
/// Likewise; with it, applications may call.
pub const OPTION_PROGRAM: &str = "adopt";

/// The loaded programs and maps. They live as long as this, or as a pinned link or map.
pub struct Receiver {
    object: Object,
    program: &'static str,
}

impl Receiver {
    /// Loads the object. `shared` are pinned maps by name: `moved`, sockets for which their cgroup no longer speaks, and
    /// `before`, what sockets had before they came to a level.
    pub fn load(shared: &[(&str, &Path)]) -> Result<Self> {
        Self::load_object("the receiver", OBJECT, PROGRAM, shared, &[])
    }

    /// Loads the object for single sockets of any cgroup. It shares the pinned maps of a loaded receiver, in the order of
    /// [`Receiver::pin_maps`], `before`, and the floors. It pins its own maps, the wishes and the connections.
    pub fn load_adopted(shared: [&Path; 6], own: [&Path; 2]) -> Result<Self> {
        let names = [DATA, BSS, "of_cgroups", "before", "floors", "floor_of"];
        let shared: Vec<_> = names.into_iter().zip(shared).collect();
        let own: Vec<_> = ["wishes", "connections"].into_iter().zip(own).collect();
        Self::load_object(
            "the receiver of single sockets",
            ADOPTED,
            ADOPTED_PROGRAM,
            &shared,
            &own,
        )
    }

    /// Loads the socket option: it shares the pinned counters, the connections of cgroups, the wishes, the connections
    /// of single sockets, and `before`.
    pub fn load_option(shared: [&Path; 5]) -> Result<Self> {
        let names = [BSS, "of_cgroups", "wishes", "connections", "before"];
        let shared: Vec<_> = names.into_iter().zip(shared).collect();
        Self::load_object("the socket option", OPTION, OPTION_PROGRAM, &shared, &[])
    }

    fn load_object(
        name: &str,
        object: &[u8],
        program: &'static str,
        shared: &[(&str, &Path)],
        own: &[(&str, &Path)],
    ) -> Result<Self> {
        let mut open = open(name, object, shared, own)?;
        for mut program in open.progs_mut() {
            program.set_flags(ANY_ALIGNMENT);
        }
        for mut map in open.maps_mut() {
            if map.name().to_string_lossy().ends_with(CONSTANTS) {
                let value = map.initial_value_mut().expect("the object has constants");
                value[..4].copy_from_slice(&jiffy_us().to_ne_bytes());
            }
        }
        open.load()
            .map(|object| Self { object, program })
            .map_err(Error::bpf("load the receiver"))
    }

    /// Gives the cgroup's future connections to the receiver; the link of the program is pinned.
    pub fn attach(&mut self, cgroup: &Path, pin: &Path) -> Result<()> {
        let dir = File::open(cgroup).map_err(Error::file("open the cgroup", cgroup))?;
        let mut programs = self.object.progs_mut();
        let program = programs.find(|program| program.name() == self.program);
        let mut link = program
            .expect("the object has its program")
            .attach_cgroup(dir.as_raw_fd())
            .map_err(Error::bpf("attach the receiver to a cgroup"))?;
        link.pin(pin).map_err(Error::bpf("pin the receiver"))
    }

    /// Pins the maps under the names that [`super::Params::open`] and [`Counters::read`] take.
    pub fn pin_maps(&mut self, params: &Path, counters: &Path, connections: Option<&Path>) -> Result<()> {
        let connections = connections.map(|pin| ("connections", pin));
        let all = [(DATA, params), (BSS, counters)].into_iter();
        let pins: Vec<_> = all.chain(connections).collect();
        for mut map in self.object.maps_mut() {
            let name = map.name().to_string_lossy().into_owned();
            if let Some(path) = pin_of(&name, &pins) {
                map.pin(path).map_err(Error::bpf("pin a map of the receiver"))?;
            }
        }
        Ok(())
    }
}

/// How long a jiffy of this kernel is, microseconds: the step of its coarse clocks.
fn jiffy_us() -> u32 {
    let step = clock_getres(ClockId::MonotonicCoarse);
    u32::try_from(step.tv_nsec / 1000).expect("less than a second")
}

/// What the receiver saw since it was loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    pub connections: u64,
    pub segments: u64,
    pub unstamped: u64,
    pub clamp_failed: u64,
    /// Of the connections, those that were in use already.
    pub adopted: u64,
    /// That do not yield, as the kernel had no memory for them.
    pub refused: u64,
}

impl Counters {
    /// Reads them from the pinned map; `None` when it cannot be read.
    pub fn read(pin: &Path) -> Option<Self> {
        let map = MapHandle::from_pinned_path(pin).ok()?;
        let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
        Self::decode(&value)
    }

    /// They are the first variable of the object's .bss.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..size_of::<receiver_counters>())?;
        // SAFETY: as many bytes as the structure has, of integers; they need not be aligned.
        let c: receiver_counters = unsafe { bytes.as_ptr().cast::<receiver_counters>().read_unaligned() };
        Some(Self {
            connections: c.connections,
            segments: c.arrivals.iter().map(|a| a.segments).sum(),
            unstamped: c.arrivals.iter().map(|a| a.unstamped).sum(),
            clamp_failed: c.clamp_failed,
            adopted: c.adopted,
            refused: c.refused,
        })
    }
}

include!(concat!(env!("OUT_DIR"), "/receivers.rs"));

const _: () = assert!(
    is_sound(PARAMETERS, ALGORITHMS),
    "a receiver's default is outside of its range"
);

/// The name of no algorithm: the kernel's own window.
pub const OFF: &str = "off";
const OFF_ROW: u32 = u32::MAX;
const TABLE: &str = "nn_receiver_table";
const CHOSEN: &str = "nn_receiver_chosen";

/// The pinned parameters of a loaded receiver.
pub struct Params {
    rows: Rows,
    chosen: usize,
}

impl Params {
    /// Opens them by the pin of the data map.
    pub fn open(pin: &Path) -> Result<Self> {
        let [start, chosen] = table::offsets(OBJECT, [TABLE, CHOSEN]).ok_or(Error::OtherBuild)?;
        let rows = Rows::open(pin, start, PARAMETERS)?;
        Ok(Self { rows, chosen })
    }

    /// The algorithm that every connection runs now, or "off".
    pub fn chosen(&self) -> &'static str {
        ALGORITHMS
            .get(self.rows.word(self.chosen) as usize)
            .map_or(OFF, |a| a.name)
    }

    /// Of every receiver: its parameters and their values.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, Values)> + '_ {
        let all = ALGORITHMS.iter().enumerate();
        all.map(|(i, a)| (a.name, self.rows.values(i, a)))
    }

    /// Live connections change to it at their next arrival; "off" gives them back to the kernel.
    pub fn choose(&mut self, algorithm: &str) -> Result<()> {
        let row = if algorithm == OFF {
            OFF_ROW
        } else {
            index(algorithm)? as u32
        };
        self.rows.put(self.chosen, row)?;
        self.rows.save()
    }

    /// Sets values ("name", "value"), or nothing when one of them is wrong.
    pub fn set<'a>(&mut self, algorithm: &str, changes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<()> {
        let row = index(algorithm)?;
        self.rows.set(row, &ALGORITHMS[row], changes)
    }
}

fn index(algorithm: &str) -> Result<usize> {
    ALGORITHMS
        .iter()
        .position(|a| a.name == algorithm)
        .ok_or_else(|| Error::UnknownReceiver(algorithm.into(), table::names(ALGORITHMS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_receiver_has_another_name() {
        assert!(index("nonsense").is_err());
        assert_eq!(index("tide").expect("the default"), 0);
    }

    #[test]
    fn both_objects_have_table_and_choice_at_the_same_place() {
        let both = table::offsets(OBJECT, [TABLE, CHOSEN]);
        let [start, chosen] = both.expect("both");
        assert_eq!(table::offsets(ADOPTED, [TABLE, CHOSEN]), both);
        assert_ne!(start, chosen);
    }
}
