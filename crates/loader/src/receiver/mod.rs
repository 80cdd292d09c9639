// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receiver side: an object for all cgroups whose incoming traffic yields, one for single sockets, and a socket option
//! for sockets in use.
//!
//! [`Receiver::load`] puts the object into the kernel, [`Receiver::attach`] gives it the connections that a cgroup opens
//! and accepts from then on, and pins keep it there. [`Receiver::load_adopted`] is the same for single sockets of any
//! cgroup. [`Params`] reads and sets what is tunable, live.

mod object;

use serde::Serialize;

use crate::cgroup::Hierarchy;
use crate::error::quiet_libbpf;
use crate::group::Group;
use crate::lock::Lock;
use crate::{pins, Result, Step};

pub use object::{
    Algorithm, Counters, Parameter, Params, Receiver, Values, ADOPTED_PROGRAM, ALGORITHMS, OFF, OPTION_PROGRAM,
    PARAMETERS, PROGRAM,
};

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
    let mut receiver = Receiver::load(&[("moved", &pins::moved()), ("before", &pins::before())])?;
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
