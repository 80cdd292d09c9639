// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use netnice_units::{seconds, Size, Time};

/// Play the visits of an access log, and show what prefetching did to users who waited.
///
/// Virtual clients read a log (Common, Combined, W3C extended, Squid's), each with a
/// cache of its own. What the log's users asked for they ask the server for over one
/// connection; what the server names in 'Link: <URL>; rel=prefetch' they prefetch over
/// another. They think between pages for as long as the log's users did.
///
/// A site, a day to learn from and another to play, with netnice-prefetch between:
///
///     netnice-replay generate --seed 1 >yesterday.log
///     netnice-replay generate --seed 2 >today.log
///     netnice-replay serve yesterday.log today.log &
///     netnice-prefetch train yesterday.log
///     printf '[prefetch]\ntrust_logs = true\n' >replay.toml
///     netnice-prefetch --config replay.toml --clients 1 http://localhost:8000 &
///     netnice-replay play today.log http://localhost:8080 --seconds 60
///
/// Exit status: 0 done, 1 failed, 2 wrong command line.
#[derive(Debug, Parser)]
#[command(name = "netnice-replay", version, verbatim_doc_comment)]
pub struct Options {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Play(Play),
    Serve(Serve),
    Generate(Generate),
}

/// Play a log's visits against a server, and report how long everything took
///
/// Only what was answered in full to no particular user is played: GET, with status 200 or 304, without a user's name.
/// A page is demanded, then at once whatever its user's browser demanded until the next page; the user thinks for as long
/// as passed in the log from page to page. The trace's clients are dealt to the virtual clients, which play their visits
/// one after the other, none before its time.
///
/// What is in the cache takes no time and makes no request. A prefetch of what is now demanded is given up, and asked for
/// again, as Firefox does; a new page's hints replace older ones, as in the paper. Whatever may be stored is taken for
/// fresh until the end.
#[derive(Debug, Args)]
pub struct Play {
    /// The log; - for the standard input
    pub log: PathBuf,
    /// The server or proxy: http://HOST:PORT
    pub server: String,
    /// Virtual clients
    #[arg(long, default_value_t = 16)]
    pub clients: usize,
    /// Think for so many times as long as the log's users
    #[arg(long, default_value_t = 1.0)]
    pub think: f64,
    /// Stop after so many seconds [default: when all is played]
    #[arg(long, value_parser = seconds)]
    pub seconds: Option<Time>,
    /// Leave what is demanded in the first seconds out of the report
    #[arg(long, default_value = "0", value_parser = seconds)]
    pub warmup: Time,
    /// Requests on a demand connection that wait for a reply; 1: no pipelining, as in browsers
    #[arg(long, default_value_t = 8)]
    pub pipeline: usize,
    /// Prefetch connections of each client
    #[arg(long, default_value_t = 1)]
    pub prefetches: usize,
    /// Ignore the server's hints
    #[arg(long)]
    pub no_prefetch: bool,
    /// Cache of each client
    #[arg(long, default_value = "64MiB")]
    pub cache: Size,
    /// Print JSON, with every request
    #[arg(long)]
    pub json: bool,
}

/// Be the site of a log: every URL in it, as large as it was
#[derive(Debug, Args)]
pub struct Serve {
    /// Logs that name URLs and sizes
    #[arg(required = true)]
    pub logs: Vec<PathBuf>,
    /// Where clients come to
    #[arg(short, long, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    pub listen: SocketAddr,
}

/// Make up a log in Common Log Format
///
/// SITE. Pages by rank, the r-th as popular as 1/r^0.8. Each links to --links others, drawn by popularity, and embeds a
/// geometric number of images, 3 in the mean. Pages have log-normal sizes, median 6 kB, sigma 0.8, at most 100 kB; images
/// bounded Pareto ones, alpha 1.2 from 1 kB to 100 kB.
///
/// VISITS. They begin as a Poisson process, at a page drawn by popularity, and have a geometric number of pages, 6 in the
/// mean. Of the next pages 85 % are linked from the last one, the k-th link as likely as 1/k, the others drawn by
/// popularity. Users think for a log-normal time, median 10 s (--think), sigma 0.8. A visit is a client of its own; it
/// asks for nothing twice.
///
/// The same numbers give the same log.
#[derive(Debug, Args, Clone)]
pub struct Generate {
    /// How many visits
    #[arg(long, default_value_t = 1000)]
    pub visits: u32,
    /// Mean time between the beginnings of visits
    #[arg(long, default_value = "1s")]
    pub every: Time,
    /// Median time that a user thinks
    #[arg(long, default_value = "10s")]
    pub think: Time,
    /// Pages of the site
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub pages: u32,
    /// Links on a page
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub links: u32,
    /// Which site: pages, links, sizes
    #[arg(long, default_value_t = 1)]
    pub site: u64,
    /// Which visits
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}
