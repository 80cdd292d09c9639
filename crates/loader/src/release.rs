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
    // Another build may keep its choice elsewhere; then those that can be reached are let go, and no others.
    let _ = Params::open(&pins::receiver_params()).and_then(|mut params| params.choose(OFF));
    if may_hold_windows() {
        live::release_all();
        sleep(LETTING_GO);
    }
}

/// Also where another build counts in another way.
fn may_hold_windows() -> bool {
    let pin = pins::receiver_counters();
    pin.exists() && Counters::read(&pin).is_none_or(|counters| counters.connections > 0)
}
