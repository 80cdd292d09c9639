// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-receiver`: the receiver on one cgroup, without the rest of netnice. The lab and the tests use it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use netnice_receiver::{Counters, Error, Params, Receiver, Result};

/// Puts the receiver side of netnice on one cgroup, without the rest of netnice: for the lab and for tests.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Load, attach to a cgroup, and pin everything below a directory of a bpf file system
    Attach { cgroup: PathBuf, pins: PathBuf },
    /// Choose the algorithm of all connections: a row of the table, or off
    Choose { pins: PathBuf, algorithm: String },
    /// Set parameters of an algorithm, as NAME=VALUE
    Set {
        pins: PathBuf,
        algorithm: String,
        #[arg(required = true)]
        values: Vec<String>,
    },
    /// Print what the receiver saw
    Counters { pins: PathBuf },
}

fn run(command: Command) -> Result<()> {
    let params = |pins: &Path| Params::open(&pins.join("params"));
    match command {
        Command::Attach { cgroup, pins } => {
            std::fs::create_dir_all(&pins).map_err(|why| Error::File {
                path: pins.clone(),
                why,
            })?;
            let mut receiver = Receiver::load(None)?;
            receiver.pin_maps(
                &pins.join("params"),
                &pins.join("counters"),
                Some(&pins.join("connections")),
            )?;
            receiver.attach(&cgroup, &mut |name, mut link| {
                link.pin(pins.join(name)).map_err(|why| Error::Bpf {
                    what: format!("pin '{name}'"),
                    why,
                })
            })
        }
        Command::Choose { pins, algorithm } => params(&pins)?.choose(&algorithm),
        Command::Set {
            pins,
            algorithm,
            values,
        } => {
            let changes = values
                .iter()
                .map(|text| text.split_once('=').unwrap_or((text, "")));
            params(&pins)?.set(&algorithm, changes)
        }
        Command::Counters { pins } => {
            let counters = Counters::read(&pins.join("counters")).unwrap_or_default();
            netnice_output::print(format_args!("{counters:?}")).map_err(Error::Print)
        }
    }
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            netnice_output::complain("netnice-receiver", &e);
            ExitCode::FAILURE
        }
    }
}
