// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! To see what netnice does, before it is used: on an emulated line, and on one's own.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use netnice_output::{complain, print};
use nix::sys::signal::Signal;

use crate::demo::{self, Outcome, Part};
use crate::shared::print_json;
use crate::trial::{self, Url};

/// Show what netnice does, on an emulated line: half a minute
///
/// Builds a line of 10 Mbit/s and 40 ms between two network namespaces of its own. Fetches pages over it alone,
/// beside plain uploads, and beside netnice uploads. No packet leaves this machine. Loads netnice if it is not loaded,
/// and then unloads it at the end. Everything is removed, also after Ctrl-C or kill -9.
#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  sudo netnicectl demo
  sudo netnicectl demo --json",
    after_long_help = "\
Conditions:
  A page is 30 kB over a new connection, and the next page begins 50 ms after
  it. Four uploads go the other way. The router's buffer holds 3 times the
  bandwidth-delay product in each direction. The bars are means."
)]
pub struct Demo {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Demo {
    pub fn run(self) -> Result<ExitCode> {
        match demo::run()? {
            Outcome::Interrupted(signal) => return Ok(interrupted(signal)),
            Outcome::Done(demo) if self.json => print_json(&demo)?,
            Outcome::Done(demo) => print(demo)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Show what netnice does on your own line, with a download
///
/// Downloads the URL by curl, plain and then in the background, and measures latency meanwhile. It is that of connections
/// to the URL's server, and of echoes of the router if it answers them. Loads netnice if it is not loaded, and then unloads it at the
/// end. What comes is discarded.
#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  sudo netnicectl try https://example.org/large-file
  sudo netnicectl try --for 10 https://example.org/large-file",
    after_long_help = "\
Conditions:
  The downloads use what the line carries: at 100 Mbit/s, 500 MB in all. A
  file that ends too early is downloaded again. The first 3 s of each
  download are not measured, and no more than a third. Four probes a second.
  An echo of the router does not see a queue beyond the router."
)]
pub struct Try {
    /// A large file: http:// or https://
    url: Url,
    /// Time of each download: 3 to 600
    #[arg(long = "for", value_name = "SECONDS", default_value = "20", value_parser = clap::value_parser!(u64).range(3..=600))]
    seconds: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Try {
    pub fn run(self) -> Result<ExitCode> {
        let each = Duration::from_secs(self.seconds);
        match trial::run(&self.url, each, &mut Part::Guard.command()?)? {
            trial::Outcome::Interrupted(signal) => return Ok(interrupted(signal)),
            trial::Outcome::Done(trial) if self.json => print_json(&trial)?,
            trial::Outcome::Done(trial) => print(trial)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// As a shell has it.
fn interrupted(signal: Signal) -> ExitCode {
    complain("interrupted; everything is removed");
    ExitCode::from(128 + signal as u8)
}
