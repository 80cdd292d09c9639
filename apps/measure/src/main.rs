// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
use std::process::ExitCode;

use netnice_measure::{execute, Cli};

fn main() -> ExitCode {
    match execute(netnice_help::parse::<Cli>().command) {
        Ok(status) => status,
        Err(error) => {
            netnice_output::complain(format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
