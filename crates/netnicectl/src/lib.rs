// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The `netnicectl` command: loads, inspects, tunes and unloads netnice's kernel objects.

use std::process::ExitCode;

use clap::CommandFactory;
use netnice_loader::rules::{self, timetable};

mod cli;
mod commands;
mod explanation;
mod flow_filter;
mod metrics;
mod naming;
mod shared;
mod summary;
mod traffic;

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
    netnice_help::parse::<Cli>().verb.run().unwrap_or_else(|error| {
        netnice_output::complain(format_args!("{error:#}"));
        ExitCode::FAILURE
    })
}
