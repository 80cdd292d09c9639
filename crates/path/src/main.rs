// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
use std::process::ExitCode;

use netnice_output::complain;
use netnice_path::options::Options;
use netnice_path::run::{run, FAILED};

fn main() -> ExitCode {
    let options = match netnice_help::try_parse::<Options>() {
        Ok(options) => options,
        Err(e) => {
            // Printing fails only without a reader.
            e.print().ok();
            return ExitCode::from(if e.use_stderr() { FAILED } else { 0 });
        }
    };
    match run(&options) {
        Ok(status) => ExitCode::from(status),
        Err(e) => {
            complain(format!("{e:#}"));
            ExitCode::from(FAILED)
        }
    }
}
