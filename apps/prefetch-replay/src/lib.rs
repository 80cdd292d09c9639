// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-replay`: the trace-driven client of TCP Nice (OSDI 2002), section 6.1, with a server and a log to try it on.
//!
//! A log becomes visits ([`trace`]). Virtual clients, each with a cache and connections of its own, play them against a
//! server that names what to prefetch. Their waiting times are summed up ([`report`]).

mod connection;
pub mod generate;
mod lane;
mod options;
mod origin;
mod play;
mod prefetcher;
pub mod report;
pub mod trace;

use std::process::ExitCode;

use clap::CommandFactory;
use netnice_output::complain;

use options::{Command, Options};

/// The definition of the command line, for manual pages and completions.
pub fn command() -> clap::Command {
    Options::command()
}

/// The program. 0: done; 1: failed; 2: wrong command line.
pub fn main() -> ExitCode {
    match run(&netnice_help::parse::<Options>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            complain(format!("{e:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> anyhow::Result<()> {
    match &options.command {
        Command::Play(options) => play::run(options),
        Command::Serve(options) => origin::run(options),
        Command::Generate(options) => generate::run(options),
    }
}
