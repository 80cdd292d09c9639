// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use std::process::ExitCode;

use clap::Parser;

mod cli;
mod commands;
mod names;
mod progress;
mod summary;

fn main() -> ExitCode {
    cli::Cli::parse().verb.run().unwrap_or_else(|error| {
        netnice_output::complain("netnicectl", format_args!("{error:#}"));
        ExitCode::FAILURE
    })
}
