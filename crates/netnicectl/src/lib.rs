// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The `netnicectl` command: loads, inspects, tunes and unloads netnice's kernel objects.

use std::process::ExitCode;

use clap::CommandFactory;
use netnice_loader::rules::{self, timetable};

mod bars;
mod cli;
mod commands;
mod demo;
mod explanation;
mod metrics;
mod naming;
mod plot;
mod processes;
mod progress;
mod shared;
mod summary;
mod traffic;
mod trial;

use cli::Cli;

/// The command line, for what describes it.
pub fn command() -> clap::Command {
    Cli::command()
}

/// What the program does, and its exit status.
pub fn main() -> ExitCode {
    if std::env::args_os().next().is_some_and(|name| name == timetable::NAME) {
        return rules::wait_for_hours().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let done = match demo::Part::asked_for() {
        Some((part, parent)) => part.run(parent).map(|()| ExitCode::SUCCESS),
        None => netnice_help::parse::<Cli>().verb.run(),
    };
    done.unwrap_or_else(|error| {
        netnice_output::complain(format_args!("{error:#}"));
        ExitCode::FAILURE
    })
}
