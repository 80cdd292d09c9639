// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receiver side: one object for all groups that yield with what they receive.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use libbpf_rs::Link;
use netnice_receiver::{Counters, Params, Receiver, ADOPTED_PROGRAMS, ALGORITHMS, OFF, PARAMETERS};
use serde::Serialize;

use crate::cgroup::{Group, Hierarchy};
use crate::lock::Lock;
use crate::params::{Parameter, Row};
use crate::{live, pins, Error, Result, Step};

/// Long enough for an active connection that could not be reached otherwise to send the ACK that takes its window back to
/// the kernel's.
const LETTING_GO: Duration = Duration::from_millis(300);

/// What the receiver does now.
#[derive(Debug, Clone, Serialize)]
pub struct ReceiverStatus {
    /// The algorithm, or "off".
    pub algorithm: &'static str,
    pub counters: Counters,
    /// Applications may say for their own sockets: `netnicectl up --applications`, or a first `netnice -p`.
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

/// What `netnicectl set` takes for all receivers together.
const RECEIVER: &str = "receiver";

pub(crate) fn knows(name: &str) -> bool {
    name == RECEIVER || ALGORITHMS.iter().any(|a| a.name == name)
}

pub(crate) fn rows() -> Result<Vec<Row>> {
    let params = Params::open(&pins::receiver_params())?;
    let parameter = |p: &netnice_receiver::Parameter| Parameter {
        name: p.name,
        unit: p.unit,
        why: p.why,
    };
    let row = |a: &netnice_receiver::Algorithm| -> Result<Row> {
        let values = params.row(a.name)?;
        Ok(Row {
            algorithm: a.name,
            values: PARAMETERS.iter().map(parameter).zip(values).collect(),
            receiver: true,
        })
    };
    ALGORITHMS.iter().map(row).collect()
}

pub(crate) fn set(name: &str, changes: &[(String, String)]) -> Result<()> {
    let mut params = Params::open(&pins::receiver_params())?;
    let mut pairs = changes.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    if name != RECEIVER {
        return Ok(params.set(name, pairs)?);
    }
    match (pairs.next(), pairs.next()) {
        (Some(("algorithm", value)), None) => Ok(params.choose(value)?),
        (Some((key, _)), _) if key != "algorithm" => {
            Err(Error::UnknownParameter(key.into(), "algorithm".into()))
        }
        _ => Err(Error::Twice("algorithm")),
    }
}

pub(crate) fn load(hierarchy: &Hierarchy, on_step: &mut dyn FnMut(Step)) -> Result<()> {
    crate::kernel::quiet_libbpf();
    let mut receiver = Receiver::load(Some(&pins::moved()))?;
    receiver.pin_maps(
        &pins::receiver_params(),
        &pins::receiver_counters(),
        Some(&pins::receiver_connections()),
    )?;
    on_step(Step::ReceiverLoaded);
    for group in Group::ALL.into_iter().filter(|g| g.direction.receives()) {
        let name = group.name();
        receiver.attach(&hierarchy.dir(group), &mut |program, link| {
            keep(link, pins::receiver_link(&name, program))
        })?;
        on_step(Step::ReceiverAttached);
    }
    Ok(())
}

fn keep(mut link: Link, pin: PathBuf) -> netnice_receiver::Result<()> {
    link.pin(pin).map_err(|why| netnice_receiver::Error::Bpf {
        what: "pin the receiver".into(),
        why,
    })
}

/// Single sockets of any cgroup can be told to yield: by `netnice -p`, and by their application.
pub fn adopting() -> bool {
    let [.., last] = ADOPTED_PROGRAMS;
    pins::adopted_link(last).exists()
}

/// Sees to it that they can; netnice is up. True when they could not before.
pub(crate) fn adopt() -> Result<bool> {
    if adopting() {
        return Ok(false);
    }
    let _lock = Lock::take()?;
    load_adopted(&Hierarchy::find()?)
}

/// The same for who holds the lock.
pub(crate) fn load_adopted(hierarchy: &Hierarchy) -> Result<bool> {
    if adopting() {
        return Ok(false);
    }
    crate::kernel::quiet_libbpf();
    // What another that was killed half-way has left.
    for stale in ADOPTED_PROGRAMS.map(pins::adopted_link) {
        pins::remove_link(&stale)?;
    }
    for stale in [pins::receiver_wishes(), pins::receiver_adopted()] {
        pins::remove_file(&stale)?;
    }
    let mut adopted = Receiver::load_adopted(
        [
            &pins::receiver_params(),
            &pins::receiver_counters(),
            &pins::receiver_connections(),
        ],
        [&pins::receiver_wishes(), &pins::receiver_adopted()],
    )?;
    adopted.attach(hierarchy.root(), &mut |program, link| {
        keep(link, pins::adopted_link(program))
    })?;
    Ok(true)
}

/// Gives the windows of live connections back to the kernel, while there is still a program to do it.
pub(crate) fn release() {
    if !pins::receiver_params().exists() {
        return;
    }
    let off = Params::open(&pins::receiver_params()).and_then(|mut params| params.choose(OFF));
    if off.is_ok() && Counters::read(&pins::receiver_counters()).is_some_and(|c| c.connections > 0)
    {
        live::release_all();
        sleep(LETTING_GO);
    }
}

impl From<netnice_receiver::Error> for Error {
    fn from(error: netnice_receiver::Error) -> Self {
        match error {
            netnice_receiver::Error::Bpf { what, why } => Error::bpf(what)(why),
            other => Error::Receiver(other),
        }
    }
}
