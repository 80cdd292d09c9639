// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
use std::process::ExitCode;

use clap::Parser;
use netnice_measure::{execute, Cli};

fn main() -> ExitCode {
    match execute(Cli::parse().command) {
        Ok(status) => status,
        Err(error) => {
            netnice_output::complain(format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
