// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The connections in the background, looked at again and again.

use std::io::{stdout, IsTerminal};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use netnice_output::print;

use crate::json::print_json;
use crate::traffic::{Column, Look, Traffic};

/// Home, and all below is cleared.
const CLEAR: &str = "\x1b[H\x1b[J";

/// Show the connections in the background: whose, at which level, how fast each way, what they wait in queues
///
/// Rates are those of the last interval. A connection is in the background when it runs on a congestion control of
/// netnice, or its program is. The queue is what its round trip exceeds the least by that the kernel has seen.
/// Root sees whose connections all are, anybody their own. It shows this network namespace.
#[derive(Debug, Args)]
pub struct Top {
    /// Those in the foreground too
    #[arg(short, long)]
    all: bool,
    /// Print it once, after one interval; so it is where the output is no terminal
    #[arg(long)]
    once: bool,
    /// For programs: once, with the sums by unit
    #[arg(long)]
    json: bool,
    /// Between two looks, in seconds: 0.1 to 3600
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    interval: Duration,
    /// By which column, largest first
    #[arg(short, long, value_enum, default_value_t)]
    sort: Column,
    /// Only where program, unit, congestion control or an address has this text in it
    #[arg(short, long, value_name = "TEXT")]
    filter: Option<String>,
}

impl Top {
    pub fn run(self) -> Result<ExitCode> {
        let once = self.once || self.json || !stdout().is_terminal();
        let mut before = Look::now()?;
        loop {
            sleep(self.interval);
            let now = Look::now()?;
            let traffic = self.chosen(Traffic::between(&before, &now));
            if self.json {
                print_json(&traffic)?;
            } else {
                print(format_args!("{}{traffic}", if once { "" } else { CLEAR }))?;
            }
            if once {
                return Ok(ExitCode::SUCCESS);
            }
            before = now;
        }
    }

    fn chosen(&self, mut traffic: Traffic) -> Traffic {
        let text = self.filter.as_deref().unwrap_or_default();
        traffic.keep(|row| (self.all || row.level.is_some()) && row.mentions(text));
        traffic.sort(self.sort);
        traffic
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("it is not between 0.1 and 3600 seconds".to_owned()),
    }
}
