// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use std::process::ExitCode;

use netnice::{run, wait, Cli, FAILED};
use netnice_output::complain;

fn main() -> ExitCode {
    if let Some(done) = wait() {
        return done;
    }
    let cli = match netnice_help::try_parse::<Cli>() {
        Ok(cli) => cli,
        Err(usage) => {
            // A failure to print cannot be printed either.
            let _ = usage.print();
            return if usage.use_stderr() {
                FAILED.into()
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    match run(cli) {
        Ok(status) => status,
        Err(error) => {
            complain(&error);
            error.exit_code()
        }
    }
}
