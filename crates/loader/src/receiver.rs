// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receiver side: one object for all groups that yield with what they receive.

use std::thread::sleep;
use std::time::Duration;

use libbpf_rs::Link;
use netnice_receiver::{Counters, Params, Receiver, OFF};
use serde::Serialize;

use crate::cgroup::{Group, Hierarchy};
use crate::{pins, Error, Result, Step};

/// Long enough for an active connection to send the ACK that takes its window back to the kernel's.
const LETTING_GO: Duration = Duration::from_millis(300);

/// What the receiver does now.
#[derive(Debug, Clone, Serialize)]
pub struct ReceiverStatus {
    /// The algorithm, or "off".
    pub algorithm: &'static str,
    pub counters: Counters,
}

/// `None` when it is not loaded or may not be read.
pub fn status() -> Option<ReceiverStatus> {
    pins::receiver_params().exists().then_some(())?;
    Some(ReceiverStatus {
        algorithm: Params::open(&pins::receiver_params()).ok()?.chosen(),
        counters: Counters::read(&pins::receiver_counters())?,
    })
}

pub(crate) fn load(hierarchy: &Hierarchy, on_step: &mut dyn FnMut(Step)) -> Result<()> {
    crate::kernel::quiet_libbpf();
    let mut receiver = Receiver::load()?;
    receiver.pin_maps(
        &pins::receiver_params(),
        &pins::receiver_counters(),
        Some(&pins::receiver_connections()),
    )?;
    on_step(Step::ReceiverLoaded);
    for group in Group::ALL.into_iter().filter(|g| g.direction.receives()) {
        let name = group.name();
        receiver.attach(&hierarchy.dir(group), &mut |program, mut link: Link| {
            let pin = pins::receiver_link(&name, program);
            link.pin(pin).map_err(|why| netnice_receiver::Error::Bpf {
                what: "pin the receiver".into(),
                why,
            })
        })?;
        on_step(Step::ReceiverAttached);
    }
    Ok(())
}

/// Gives the windows of live connections back to the kernel, while there is still a program to do it.
pub(crate) fn release() {
    if !pins::receiver_params().exists() {
        return;
    }
    let off = Params::open(&pins::receiver_params()).and_then(|mut params| params.choose(OFF));
    if off.is_ok() && Counters::read(&pins::receiver_counters()).is_some_and(|c| c.connections > 0)
    {
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
