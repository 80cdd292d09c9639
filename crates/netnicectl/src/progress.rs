// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Follows the loader's steps: tells them, and stops at one of them for the tests.

use netnice_loader::Step;
use netnice_output::complain;
use rustix::process::{getpid, kill_process, Signal};

/// For tests: the process stops itself (SIGSTOP) after the step of this name, to be killed there.
const STOP_AT: &str = "NETNICE_STOP_AT";

pub fn follow(verbose: bool) -> impl FnMut(Step) {
    let stop_at = std::env::var(STOP_AT).unwrap_or_default();
    move |step| {
        if verbose {
            complain("netnicectl", step);
        }
        if stop_at == step.name() {
            // The kernel lets every process stop itself.
            let _ = kill_process(getpid(), Signal::STOP);
        }
    }
}
