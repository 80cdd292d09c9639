// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

/// Ends with the status asked for
#[derive(Debug, Args)]
pub struct Toy {
    #[arg(long)]
    answer: u8,
}

impl Toy {
    pub fn run(self) -> Result<ExitCode> {
        Ok(self.answer.into())
    }
}
