// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use std::process::ExitCode;

mod cli;
mod commands;
mod names;
mod progress;

fn main() -> ExitCode {
    commands::run(<cli::Cli as clap::Parser>::parse()).unwrap_or_else(|error| {
        eprintln!("netnicectl: {error:#}");
        ExitCode::FAILURE
    })
}
