// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One function a verb; all of them only ask the loader and print.

mod doctor;
mod generate;
mod load;
mod params;
mod status;

use std::process::ExitCode;

use anyhow::Result;
use netnice_loader::UpOptions;
use serde::Serialize;

use crate::cli::{Cli, Verb};

pub fn run(cli: Cli) -> Result<ExitCode> {
    match cli.verb {
        Verb::Up {
            with,
            no_mark,
            applications,
            verbose,
        } => {
            let mark = !no_mark;
            let options = UpOptions {
                with,
                mark,
                applications,
            };
            load::up(&options, verbose)
        }
        Verb::Down { verbose } => load::down(verbose),
        Verb::Status { json } => status::status(json),
        Verb::Doctor { json } => doctor::doctor(json),
        Verb::Show { json } => params::show(json),
        Verb::Set { name, changes } => params::set(&name, &changes),
        Verb::Generate { kind, dir } => generate::generate(kind, &dir),
    }
}

fn print_json(value: &impl Serialize) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
