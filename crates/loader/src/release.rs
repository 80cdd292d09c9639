// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Gives the windows of live connections back to the kernel, before the programs go that could.

use std::thread::sleep;
use std::time::Duration;

use crate::receiver::{Counters, Params, OFF};
use crate::{live, pins};

/// Long enough for an active connection that could not be reached otherwise to send the ACK that takes its window back to
/// the kernel's.
const LETTING_GO: Duration = Duration::from_millis(300);

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
