// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use netnice_units::{within, Rate, Share, Size, Time};

use crate::action::{Action, Direction, SIX};
use crate::wire::PORT;

/// Measure what background transfers cost on a real path, and what they get
///
/// Two machines share a secret. One serves, the other runs transfers at random times and writes a line for each.
#[derive(Debug, Parser)]
#[command(name = "netnice-measure", version, after_help = "\
Examples:
  netnice-measure serve --token measure.token
  netnice-measure run HOST --token measure.token --for 2d", after_long_help = MORE)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// For the manual page.
const MORE: &str = "\
Quick start:
  netnice-measure token measure.token
      makes the secret; copy it to the other machine
  netnice-measure serve --token measure.token
      at one end
  netnice-measure run HOST --token measure.token --for 2d
      at the other end
  netnice-measure report netnice-measure.jsonl
      at any time, also while it runs

Exit status:
  0  done; run: --for, --bytes or --confidence was reached
  1  failed
  2  wrong command line
  3  run: a signal ended it before; the same command goes on";

/// Of 'run', for the manual page.
const ACTIONS: &str = "\
Actions:
  An action is PRIMARY/OTHERS: the primary is timed, the others run beside it.
  reno/none       one transfer with Reno, alone
  netnice/none    one in the background, alone: what it gets
  cubic/netnice8  CUBIC, beside eight in the background: what they cost
  cubic/tide8     a download, beside eight with netnice's receiver
  Names are those of the kernel's congestion controls, and of netnice's
  receivers. After a name that ends with a digit write x8 for eight.

Exit status:
  0  --for, --bytes or --confidence was reached
  1  failed
  2  wrong command line
  3  a signal ended it before; the same command goes on";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make the secret that both ends share
    #[command(after_help = "\
Examples:
  netnice-measure token measure.token
  netnice-measure token ~/.config/measure.token")]
    Token {
        /// The file to make; only its owner can read it
        file: PathBuf,
    },
    Serve(Serve),
    Run(Run),
    Report(Report),
}

/// Be the other end, within limits
///
/// Nothing is sent to a client without the token, and to a client with it at most what the limits say.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  netnice-measure serve --token measure.token
  netnice-measure serve --token measure.token --rate 50mbit --daily 20GB")]
pub struct Serve {
    /// The file with the secret
    #[arg(long, value_name = "FILE")]
    pub token: PathBuf,
    /// Address to listen on, TCP and UDP
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::from(([0u16; 8], PORT)))]
    pub listen: SocketAddr,
    /// Maximum rate of all transfers, each way
    ///
    /// The default is no limit.
    #[arg(long, value_name = "RATE")]
    pub rate: Option<Rate>,
    /// Maximum size of a transfer
    #[arg(long, value_name = "SIZE", default_value = "10GB")]
    pub transfer: Size,
    /// Maximum duration of a transfer
    #[arg(long, value_name = "TIME", default_value = "5min", value_parser = within(Time::from_secs(1), Time::from_secs(3600)))]
    pub time: Time,
    /// Maximum size of all transfers in 24 hours
    #[arg(long, value_name = "SIZE", default_value = "100GB")]
    pub daily: Size,
    /// Maximum number of connections
    #[arg(long, value_name = "NUMBER", default_value_t = 80, value_parser = clap::value_parser!(u16).range(3..))]
    pub connections: u16,
}

/// Measure the path to a server, at random times
///
/// Results are added to a file. After a restart, a crash or a signal the same command goes on.
#[derive(Debug, Args)]
#[command(after_long_help = ACTIONS, after_help = "\
Examples:
  netnice-measure run HOST --token measure.token --for 2d
  netnice-measure run HOST --token measure.token --bytes 5GB")]
pub struct Run {
    /// Where 'netnice-measure serve' runs
    pub host: String,
    /// The file with the secret
    #[arg(long, value_name = "FILE")]
    pub token: PathBuf,
    /// The server's port
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    pub port: u16,
    /// What to do, in random order
    ///
    /// Each as often as the others. Six actions are the default: one transfer of reno and of netnice alone, and reno beside
    /// one and eight of each.
    #[arg(long, value_name = "ACTION,...", value_delimiter = ',', default_value = SIX, hide_default_value = true)]
    pub actions: Vec<Action>,
    /// Which end sends: up is this one
    ///
    /// With a receiver of netnice always the server.
    #[arg(long, value_name = "up|down", default_value = "up", hide_possible_values = true)]
    pub direction: Direction,
    /// Mean pause between two measurements
    ///
    /// Pauses are exponentially distributed.
    #[arg(long, value_name = "TIME", default_value = "5min", value_parser = within(Time::from_millis(1), Time::from_secs(86_400)))]
    pub interval: Time,
    /// How long a transfer takes alone: sets its size
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = within(Time::from_millis(100), Time::from_secs(600)))]
    pub transfer: Time,
    /// The results, as JSON lines
    #[arg(long, value_name = "FILE", default_value = "netnice-measure.jsonl")]
    pub output: PathBuf,
    /// Stop after this time of measuring
    ///
    /// Earlier runs included.
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<Time>,
    /// Stop after this many bytes
    #[arg(long, value_name = "SIZE")]
    pub bytes: Option<Size>,
    /// Stop when shares are known to this, as 2%
    ///
    /// Every share, at 95 % confidence.
    #[arg(long, value_name = "PERCENT")]
    pub confidence: Option<Share>,
}

/// Show what was measured: sentences, a table, pictures, files
///
/// The results are only read: a run may go on meanwhile.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  netnice-measure report netnice-measure.jsonl
  netnice-measure report netnice-measure.jsonl --to report")]
pub struct Report {
    /// What 'netnice-measure run' wrote
    #[arg(value_name = "RESULTS", default_value = "netnice-measure.jsonl")]
    pub results: PathBuf,
    /// Write a web page, pictures and data files to a folder
    ///
    /// report.html, PNG, results.parquet, and files for flent's viewer.
    #[arg(long, value_name = "FOLDER")]
    pub to: Option<PathBuf>,
}
