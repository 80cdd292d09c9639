// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use netnice_units::{within, Rate, Share, Size, Time};

use crate::action::{Action, Direction, SIX};
use crate::wire::PORT;

const ABOUT: &str = "Measure what background transfers cost on a real path, and how much they find";

const EXAMPLES: &str = "\
Quick start, on two machines:
  netnice-measure token measure.token             a secret; copy it to the other machine
  netnice-measure serve --token measure.token     at one end
  netnice-measure run HOST --token measure.token --for 2d
                                                  at the other
  netnice-measure report netnice-measure.jsonl    any time, also while it runs

Actions are PRIMARY/OTHERS: the primary is timed, the others run beside it.
  reno/none       one transfer with Reno, alone
  netnice/none    one in the background, alone: what it finds
  cubic/netnice8  CUBIC, beside eight in the background: what they cost
  cubic/tide8     a download, beside eight that netnice's receiver holds back
Names are those of the kernel's congestion controls, and of netnice's receivers. Behind netnice1 and other
names that end with a digit write x8 for eight.

Exit status:
  0  it was enough: --for, --bytes or --confidence
  1  it failed
  2  wrong command line
  3  a signal ended it before it was enough; the same command goes on";

/// `netnice-measure`.
#[derive(Debug, Parser)]
#[command(name = "netnice-measure", version, about = ABOUT, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make the secret that both ends share
    Token {
        /// The file to make; only its owner can read it
        file: PathBuf,
    },
    /// Be the other end, within limits
    Serve(Serve),
    /// Measure the path to a server, at random times
    Run(Run),
    /// Say what was measured: a sentence, a table, pictures and files for other programs
    Report(Report),
}

/// Nothing is sent for a client without the token, and never more than this for clients with it.
#[derive(Debug, Args)]
pub struct Serve {
    /// The file with the secret
    #[arg(long, value_name = "FILE")]
    pub token: PathBuf,
    /// Where to listen, TCP and UDP
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::from(([0u16; 8], PORT)))]
    pub listen: SocketAddr,
    /// Most of all transfers together, each way [default: what the path carries]
    #[arg(long, value_name = "RATE")]
    pub rate: Option<Rate>,
    /// Most of one transfer
    #[arg(long, value_name = "SIZE", default_value = "10GB")]
    pub transfer: Size,
    /// Most of one transfer
    #[arg(long, value_name = "TIME", default_value = "5min", value_parser = within(Time::from_secs(1), Time::from_secs(3600)))]
    pub time: Time,
    /// Most of all transfers in 24 hours
    #[arg(long, value_name = "SIZE", default_value = "100GB")]
    pub daily: Size,
    /// Most connections at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 80, value_parser = clap::value_parser!(u16).range(3..))]
    pub connections: u16,
}

/// Results are added to a file. After a restart, a crash or a signal the same command goes on.
#[derive(Debug, Args)]
pub struct Run {
    /// Where 'netnice-measure serve' runs
    pub host: String,
    /// The file with the secret
    #[arg(long, value_name = "FILE")]
    pub token: PathBuf,
    /// The server's port
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    pub port: u16,
    /// What to do: each as often as the others, in random order
    #[arg(long, value_name = "ACTION,…", value_delimiter = ',', default_value = SIX)]
    pub actions: Vec<Action>,
    /// Direction of the data; with a receiver of netnice always the server
    #[arg(long, value_name = "up|down", default_value = "up", hide_possible_values = true)]
    pub direction: Direction,
    /// Mean pause between two measurements; pauses are exponentially distributed
    #[arg(long, value_name = "TIME", default_value = "5min", value_parser = within(Time::from_millis(1), Time::from_secs(86_400)))]
    pub interval: Time,
    /// How long a primary takes alone: so much is transferred
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = within(Time::from_millis(100), Time::from_secs(600)))]
    pub transfer: Time,
    /// The results, as JSON lines
    #[arg(long, value_name = "FILE", default_value = "netnice-measure.jsonl")]
    pub output: PathBuf,
    /// Stop after so much time of measuring, earlier runs included
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<Time>,
    /// Stop after so many bytes
    #[arg(long, value_name = "SIZE")]
    pub bytes: Option<Size>,
    /// Stop when every share is known to this, at 95 % confidence, as 2%
    #[arg(long, value_name = "PERCENT")]
    pub confidence: Option<Share>,
}

/// Prints the answer in a sentence and a table. The results are only read: a run may go on meanwhile.
#[derive(Debug, Args)]
pub struct Report {
    /// What 'netnice-measure run' wrote
    #[arg(value_name = "RESULTS", default_value = "netnice-measure.jsonl")]
    pub results: PathBuf,
    /// Write report.html, pictures (PNG), results.parquet and files for flent's viewer into a folder
    #[arg(long, value_name = "FOLDER")]
    pub to: Option<PathBuf>,
}
