// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Live sockets of processes whose deadline has passed.

use rustix::process::geteuid;

use crate::attachments::{InEffect, SwitchCounts};
use crate::deadline::{state, State};
use crate::live::{switch, Target};

/// The sockets of all processes whose deadline has passed become what their process is now. Of other users' only root's
/// can be reached.
pub fn settle() -> SwitchCounts {
    let (mut counts, in_effect) = (SwitchCounts::default(), InEffect::read());
    for pid in processes().filter(|pid| state(*pid) == Some(State::Passed)) {
        counts.add(SwitchCounts::of(pid, switch(pid, &Target::of(in_effect.of(pid)))));
    }
    counts
}

/// Does any process that this user may reach have a deadline ahead?
pub fn is_any_ahead() -> bool {
    processes().any(|pid| state(pid) == Some(State::Ahead))
}

fn processes() -> impl Iterator<Item = u32> {
    let all = procfs::process::all_processes().into_iter().flatten().flatten();
    let me = geteuid();
    let reached = all.filter(move |process| me.is_root() || process.uid().is_ok_and(|user| user == me.as_raw()));
    reached.map(|process| process.pid().unsigned_abs())
}
