// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use netnice_units::{seconds, Size, Time};

/// For the manual page.
const MORE: &str = "\
A site with netnice-prefetch, a day to learn from and another to play:
  netnice-replay generate --seed 1 >yesterday.log
  netnice-replay generate --seed 2 >today.log
  netnice-replay serve yesterday.log today.log &
  netnice-prefetch train yesterday.log
  printf '[prefetch]\\ntrust_logs = true\\n' >replay.toml
  netnice-prefetch --config replay.toml --clients 1 http://localhost:8000 &
  netnice-replay play today.log http://localhost:8080 --seconds 60";

/// Play an access log, and report what prefetching does to its users
///
/// Virtual clients read a log (Common, Combined, W3C extended, Squid's), each with a cache of its own. Each client
/// requests what the log's users requested over one connection. It prefetches what the server names in 'Link: <URL>;
/// rel=prefetch' over another. It thinks between pages for as long as the log's users did.
#[derive(Debug, Parser)]
#[command(name = "netnice-replay", version, after_help = "\
Examples:
  netnice-replay generate --seed 2 >today.log
  netnice-replay play today.log http://localhost:8080 --seconds 60", after_long_help = MORE)]
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

/// Play a log against a server, and report how long requests took
///
/// Plays GET requests with status 200 or 304 and without a user's name. A page is demanded first, and at once all that
/// its user's browser demanded until the next page. The user thinks for as long as passed in the log from page to page.
/// The log's clients are dealt to the virtual clients, which play their visits one after the other, none before its time.
///
/// What is in the cache takes no time and makes no request. A prefetch of what is now demanded is ended and requested
/// again, as Firefox does. A new page's hints replace older ones. Replies that may be stored stay fresh until the end.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  netnice-replay play access.log http://localhost:8080
  netnice-replay play access.log http://localhost:8080 --no-prefetch --json")]
pub struct Play {
    /// The log; -: standard input
    pub log: PathBuf,
    /// The server or proxy: http://HOST:PORT
    pub server: String,
    /// Virtual clients
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub clients: usize,
    /// Factor on the time that the log's users think
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub think: f64,
    /// Stop after this time [default: when all is played]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub seconds: Option<Time>,
    /// Leave the first seconds out of the report
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = seconds)]
    pub warmup: Time,
    /// Requests that may wait on a demand connection
    ///
    /// 1: no pipelining, as in browsers.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub pipeline: usize,
    /// Prefetch connections of each client
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub prefetches: usize,
    /// Ignore the server's hints
    #[arg(long)]
    pub no_prefetch: bool,
    /// Cache of each client
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    pub cache: Size,
    /// Print JSON, with every request
    #[arg(long)]
    pub json: bool,
}

/// Serve every URL of a log, as large as it was
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  netnice-replay serve access.log
  netnice-replay serve yesterday.log today.log --listen 127.0.0.1:9000")]
pub struct Serve {
    /// Logs that name URLs and sizes
    #[arg(required = true)]
    pub logs: Vec<PathBuf>,
    /// Address to listen on
    #[arg(short, long, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    pub listen: SocketAddr,
}

/// Make a log in Common Log Format
///
/// SITE. Pages have ranks: r is as popular as 1/r^0.8 says. Each links to --links others, drawn by popularity, and embeds a
/// geometric number of images, 3 in the mean. Pages have log-normal sizes: median 6 kB, sigma 0.8, at most 100 kB. Images
/// have bounded Pareto sizes: alpha 1.2, from 1 kB to 100 kB.
///
/// VISITS. They begin as a Poisson process, at a page drawn by popularity, and have a geometric number of pages, 6 in the
/// mean. Of the next pages 85 % are linked from the last one, the k-th link as likely as 1/k, the others drawn by
/// popularity. Users think for a log-normal time, median 10 s (--think), sigma 0.8. A visit is a client of its own; it
/// asks for nothing twice.
///
/// The same numbers give the same log.
#[derive(Debug, Args, Clone)]
#[command(after_help = "\
Examples:
  netnice-replay generate >made.log
  netnice-replay generate --visits 5000 --pages 1000 --seed 2 >made.log")]
pub struct Generate {
    /// How many visits
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub visits: u32,
    /// Mean time between the beginnings of visits
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub every: Time,
    /// Median time that a user thinks
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub think: Time,
    /// Pages of the site
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub pages: u32,
    /// Links on a page
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub links: u32,
    /// Which site: pages, links, sizes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub site: u64,
    /// Which visits
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}
