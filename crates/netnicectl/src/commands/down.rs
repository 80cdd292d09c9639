// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use netnice_loader::{down, Removed};
use netnice_output::print;

use crate::progress::follow;

/// Take everything out of the kernel again
///
/// Connections that yield go on yielding until they end. Processes in the background return to the
/// foreground for what they connect from then on.
#[derive(Debug, Args)]
pub struct Down {
    /// Name each step on standard error when it is done
    #[arg(short, long)]
    verbose: bool,
}

impl Down {
    pub fn run(self) -> Result<ExitCode> {
        print(told(&down(&mut follow(self.verbose))?))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn told(removed: &Removed) -> String {
    match (removed.anything, removed.returned) {
        (false, _) => "already down".to_owned(),
        (true, 0) => "down".to_owned(),
        (true, 1) => "down; 1 process is in the foreground again".to_owned(),
        (true, n) => format!("down; {n} processes are in the foreground again"),
    }
}
