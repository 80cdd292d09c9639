// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-prefetch`: a reverse proxy that tells browsers what to prefetch, and sends it in the background.
//!
//! On hyper rather than pingora: the congestion control is a socket's, so the proxy must own the socket of each reply.
//! hyper takes any socket. It also builds in a fifth of the time.

mod access;
mod admin;
mod answer;
mod clients;
mod config;
mod connections;
mod descriptors;
mod hints;
mod learned;
mod learner;
mod metrics;
mod options;
mod proxy;
mod reply;
mod rules;
mod run;
mod server;
mod socket;
mod store;
mod upgrade;
mod upstream;
mod visitors;

use std::process::ExitCode;

use clap::CommandFactory;

pub use config::{Error, Result};
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
            complain(e.to_string());
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let text = match &options.command {
        None => return run::serve(&options.serve),
        Some(Command::Train { logs, files }) => learned::train(&files.read()?, logs)?,
        Some(Command::Explain { url, json, files }) => learned::explain(&files.read()?, url, *json)?,
        Some(Command::Check { file }) => format!("{:#?}", config::Config::read(file)?.checked()?),
    };
    netnice_output::print(text).map_err(Error::Start)
}
