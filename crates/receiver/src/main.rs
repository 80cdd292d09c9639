// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-receiver`: the receiver on one cgroup, without the rest of netnice. The lab and the tests use it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use netnice_loader::receiver::{Counters, Params, Receiver, PROGRAM};
use netnice_output::{complain, print};

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
    match command {
        Command::Attach { cgroup, pins } => attach(&cgroup, &pins)?,
        Command::Choose { pins, algorithm } => params(&pins)?.choose(&algorithm)?,
        Command::Set {
            pins,
            algorithm,
            values,
        } => {
            let changes = values.iter().map(|text| text.split_once('=').unwrap_or((text, "")));
            params(&pins)?.set(&algorithm, changes)?;
        }
        Command::Counters { pins } => {
            let counters = Counters::read(&pins.join("counters")).unwrap_or_default();
            print(format_args!("{counters:?}"))?;
        }
    }
    Ok(())
}

fn attach(cgroup: &Path, pins: &Path) -> Result<()> {
    std::fs::create_dir_all(pins).with_context(|| format!("cannot create {}", pins.display()))?;
    let mut receiver = Receiver::load(&[])?;
    receiver.pin_maps(
        &pins.join("params"),
        &pins.join("counters"),
        Some(&pins.join("connections")),
    )?;
    Ok(receiver.attach(cgroup, &pins.join(PROGRAM))?)
}

fn params(pins: &Path) -> netnice_loader::Result<Params> {
    Params::open(&pins.join("params"))
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            complain(format_args!("{e:#}"));
            ExitCode::FAILURE
        }
    }
}
