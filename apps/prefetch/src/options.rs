// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use hyper::Uri;

use crate::config::{Config, Mode, Preset};
use crate::Result;

const EXAMPLES: &str = "\
Examples:
  netnice-prefetch http://localhost:8000
  netnice-prefetch train access.log";

/// For the manual page.
const MORE: &str = "\
Signals:
  HUP reads the configuration and the certificates again. TERM ends it after
  all replies are sent.

Exit status:
  0  done
  1  failed
  2  wrong command line

Files:
  ~/.local/state/netnice-prefetch/learned.redb  what it has learned

More examples:
  netnice-prefetch train access.log     learn from a log, then serve:
  sudo netnicectl up
  netnice-prefetch http://localhost:8000";

/// Let browsers prefetch in the background of the network
///
/// A reverse proxy in front of a web site. It learns from the requests that pass which pages follow which, and tells
/// browsers (Link: rel=prefetch). Prefetched replies are sent on the congestion control 'netnice', which yields to all
/// other traffic. Replies that users wait for are sent as before.
///
/// Without options the site is http://localhost:8000, browsers connect to http://localhost:8080, and
/// http://localhost:8090 shows what it does. A URL is hinted to other clients once five networks have requested it,
/// and after the site has answered it without cookies. An access log can teach which pages follow which.
#[derive(Debug, Parser)]
#[command(
    name = "netnice-prefetch",
    version,
    args_conflicts_with_subcommands = true,
    after_help = EXAMPLES,
    after_long_help = MORE
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
    /// Address for browsers [default: 127.0.0.1:8080]
    #[arg(short, long, value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,
    /// Status page and /metrics [default: 127.0.0.1:8090]
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// aggressive (default) or conservative
    ///
    /// 'conservative' is the default where netnice is not loaded.
    #[arg(long)]
    preset: Option<Preset>,
    /// How to tell browsers: link (default), rewrite, off
    #[arg(long)]
    mode: Option<Mode>,
    /// Networks that must have requested a URL [default: 5]
    ///
    /// Before it is hinted to clients of other networks.
    #[arg(long, value_name = "N")]
    clients: Option<u8>,
    /// Log requests as JSON lines; -: standard output
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    #[command(flatten)]
    pub files: Files,
}

#[derive(Debug, Args)]
pub struct Files {
    /// Settings in TOML; options override them
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What it has learned, kept between starts
    ///
    /// The default is ~/.local/state/netnice-prefetch/learned.redb.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Learn from access logs
    ///
    /// In Common, Combined, W3C extended or Squid's format.
    #[command(after_help = "\
Examples:
  netnice-prefetch train access.log
  zcat access.log.2.gz | netnice-prefetch train - access.log.1")]
    Train {
        /// Logs, oldest first; -: standard input
        #[arg(required = true)]
        logs: Vec<PathBuf>,
        #[command(flatten)]
        files: Files,
    },
    /// Show why a URL is hinted to browsers or not, and the hints of its page
    #[command(after_help = "\
Examples:
  netnice-prefetch explain /
  netnice-prefetch explain --json '/search?q=a'")]
    Explain {
        /// As in a request: /path?query
        url: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        files: Files,
    },
    /// Check a configuration file, and print all settings
    #[command(after_help = "\
Examples:
  netnice-prefetch check prefetch.toml
  netnice-prefetch check /etc/netnice/prefetch.toml")]
    Check {
        /// The configuration
        file: PathBuf,
    },
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
