// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

mod cli;
mod commands;
mod json;
mod names;
mod progress;
mod summary;

use cli::Cli;

fn main() -> ExitCode {
    let verb = Cli::parse().verb;
    verb.run(&Cli::command()).unwrap_or_else(|error| {
        netnice_output::complain("netnicectl", format_args!("{error:#}"));
        ExitCode::FAILURE
    })
}
