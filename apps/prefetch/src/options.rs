// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use hyper::Uri;

use crate::config::{Config, Mode, Preset};
use crate::Result;

/// Let browsers prefetch what their users will want next, on bandwidth that nothing else wants.
///
/// A reverse proxy in front of a web site. It learns from the requests that pass
/// which pages follow which, and tells browsers (Link: rel=prefetch). What they
/// then fetch ahead is sent on the congestion control 'netnice', which yields to
/// all other traffic; what a user waits for is sent as ever.
///
/// With no options the site is http://localhost:8000, browsers come to
/// http://localhost:8080, and http://localhost:8090 shows what it does. A URL is
/// told to others once clients of five networks have asked for it, and the site
/// has answered one without cookies. An access log teaches what follows what:
///
///     netnice-prefetch train access.log
///     sudo netnicectl up
///     netnice-prefetch http://localhost:8000
///
/// SIGHUP reads the configuration and the certificates again; SIGTERM ends it once
/// all replies are sent. Exit status: 0 done, 1 failed, 2 wrong command line.
#[derive(Debug, Parser)]
#[command(
    name = "netnice-prefetch",
    version,
    args_conflicts_with_subcommands = true,
    verbatim_doc_comment
)]
pub struct Options {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: Serve,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// The site's server [default: http://localhost:8000]
    upstream: Option<Uri>,
    /// Where browsers come to [default: 127.0.0.1:8080]
    #[arg(short, long, value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,
    /// Where the status page and /metrics are [default: 127.0.0.1:8090]
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// How eagerly [default: aggressive; conservative where 'netnice' is not up]
    #[arg(long)]
    preset: Option<Preset>,
    /// How browsers are told [default: link]
    #[arg(long)]
    mode: Option<Mode>,
    /// Least number of networks that have requested a URL before it is hinted [default: 5]
    #[arg(long, value_name = "N")]
    clients: Option<u8>,
    /// Log requests as JSON lines; - for the standard output
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    #[command(flatten)]
    pub files: Files,
}

#[derive(Debug, Args)]
pub struct Files {
    /// Read settings from a TOML file; options override it
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where what is learned is kept [default: ~/.local/state/netnice-prefetch/learned.redb]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Learn from access logs: Common, Combined, W3C extended or Squid's
    Train {
        /// Read in this order, oldest first; - for the standard input
        #[arg(required = true)]
        logs: Vec<PathBuf>,
        #[command(flatten)]
        files: Files,
    },
    /// Say why a URL is told to browsers, or is not, and what is told on it
    Explain {
        /// As in a request: /path?query
        url: String,
        /// For programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        files: Files,
    },
    /// Check a configuration file, and print what holds
    Check { file: PathBuf },
}

impl Files {
    pub fn read(&self) -> Result<Config> {
        let mut config = match &self.config {
            Some(path) => Config::read(path)?,
            None => Config::default(),
        };
        config.store = self.store.clone().or(config.store).or_else(crate::store::usual_path);
        Ok(config)
    }
}

impl Serve {
    /// The file's settings, and these options above them.
    pub fn read(&self) -> Result<Config> {
        let mut config = self.files.read()?;
        if let Some(upstream) = &self.upstream {
            config.upstream = upstream.clone();
        }
        if !self.listen.is_empty() {
            config.listen = self.listen.clone();
        }
        config.admin = self.admin.or(config.admin);
        config.prefetch.preset = self.preset.unwrap_or(config.prefetch.preset);
        config.prefetch.mode = self.mode.unwrap_or(config.prefetch.mode);
        config.prefetch.clients = self.clients.unwrap_or(config.prefetch.clients);
        config.access_log = self.access_log.clone().or(config.access_log);
        config.checked()
    }
}
