// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use netnice_loader::status::{status, Condition};
use netnice_output::print;

use crate::json::print_json;
use crate::metrics;
use crate::summary::Summary;

/// As LSB's init scripts and systemctl have it.
const NOT_UP: u8 = 3;

/// Tell what is loaded, who is in the background and what it did
#[derive(Debug, Args)]
pub struct Status {
    /// For programs
    #[arg(long)]
    json: bool,
    /// For Prometheus: as text, which the node exporter's textfile collector reads
    #[arg(long, conflicts_with = "json")]
    metrics: bool,
}

impl Status {
    pub fn run(self) -> Result<ExitCode> {
        let status = status()?;
        if self.json {
            print_json(&status)?;
        } else if self.metrics {
            print(metrics::text(&status)?)?;
        } else {
            print(Summary(&status))?;
        }
        let up = matches!(status.condition, Condition::Up | Condition::Hidden);
        Ok(if up { ExitCode::SUCCESS } else { NOT_UP.into() })
    }
}
