// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The configuration file, and what holds without one.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use hyper::Uri;
use netnice_prefetch_predictor::Params;
use netnice_units::{Size, Time};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// A reply's head has no room for more.
const MOST_HINTS: usize = 100;

/// All of it; unknown names are errors.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The site's server: `http://host:port`
    #[serde(deserialize_with = "written")]
    pub upstream: Uri,
    pub listen: Vec<SocketAddr>,
    /// Status page and metrics; for the operator only
    pub admin: Option<SocketAddr>,
    /// Where what is learned outlives a restart
    pub store: Option<PathBuf>,
    pub prefetch: Prefetch,
    pub limits: Limits,
    pub tls: Option<Tls>,
    /// One JSON object a request; `-` for the standard output
    pub access_log: Option<PathBuf>,
}

/// How browsers are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// By a header: `Link: </next>; rel=prefetch`
    Link,
    /// By elements in the page, which a click takes back: no click waits for a prefetch
    Rewrite,
    /// By a Speculation-Rules header over TLS; Chromium only
    Speculation,
    /// Not at all: a plain reverse proxy that learns nothing
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// n=2, w=5, threshold 0.25, a second's pause after a reply
    Conservative,
    /// n=2, w=10, threshold 0.00001, no pause
    Aggressive,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prefetch {
    pub mode: Mode,
    pub preset: Preset,
    /// Prefetches of one client at a time
    pub outstanding: usize,
    /// URLs that a page names. Browsers fetch all of them at once. More than `outstanding` are for clients that queue
    /// them, as the paper's: these get all likely URLs, and leave out what they have
    pub hints: Option<usize>,
    /// Least number of networks (IPv4 addresses, IPv6 /64) that have requested a URL before it is hinted
    pub clients: u8,
    /// Hint URLs of logs before the proxy has seen their replies
    pub trust_logs: bool,
    /// URLs with a query that may be told, `/list?page=*` for example
    pub queries: Vec<String>,
    /// Largest reply that is prefetched
    #[serde(deserialize_with = "written")]
    pub size: Size,
    /// For replies that wait to be sent, all clients together
    #[serde(deserialize_with = "written")]
    pub buffers: Size,
    /// For what is learned
    #[serde(deserialize_with = "written")]
    pub memory: Size,
    /// With so many demand requests under way, prefetches are refused
    pub busy: usize,
    /// A prefetch that takes longer is sent as if a user waited for it: perhaps a user does
    #[serde(deserialize_with = "written")]
    pub deadline: Time,
    /// Congestion controls for prefetches: the first that the kernel has
    pub background: Vec<String>,
    /// For everything else; the system's where none is named
    pub foreground: Option<String>,
    /// Cookies that say nothing about a person, `_ga*` for example
    pub harmless_cookies: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    pub connections: usize,
    /// Of an IPv4 address, or of an IPv6 /64
    pub connections_per_address: usize,
    /// Bytes of a request's head
    #[serde(deserialize_with = "written")]
    pub head: Size,
    pub headers: usize,
    /// For a request's head to arrive, and for an idle connection
    #[serde(deserialize_with = "written")]
    pub head_time: Time,
    /// Without a byte from, or taken by, a browser
    #[serde(deserialize_with = "written")]
    pub stall: Time,
    /// For the site's server to begin its reply
    #[serde(deserialize_with = "written")]
    pub reply_time: Time,
    /// For a WebSocket without a byte in either direction
    #[serde(deserialize_with = "written")]
    pub websocket_idle: Time,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

fn written<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(source: D) -> std::result::Result<T, D::Error> {
    let text = String::deserialize(source)?;
    text.parse().map_err(serde::de::Error::custom)
}

impl Default for Config {
    fn default() -> Self {
        Self {
            upstream: Uri::from_static("http://localhost:8000"),
            listen: vec![SocketAddr::from(([127, 0, 0, 1], 8080))],
            admin: Some(SocketAddr::from(([127, 0, 0, 1], 8090))),
            store: None,
            prefetch: Prefetch::default(),
            limits: Limits::default(),
            tls: None,
            access_log: None,
        }
    }
}

impl Default for Prefetch {
    fn default() -> Self {
        Self {
            mode: Mode::Link,
            preset: Preset::Aggressive,
            outstanding: 3,
            hints: None,
            clients: 5,
            trust_logs: false,
            queries: Vec::new(),
            size: Size(1 << 20),
            buffers: Size(64 << 20),
            memory: Size(128 << 20),
            busy: 64,
            deadline: Time::from_secs(10),
            background: vec!["netnice".into()],
            foreground: None,
            harmless_cookies: Vec::new(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            connections_per_address: 256,
            head: Size(32 << 10),
            headers: 100,
            head_time: Time::from_secs(30),
            stall: Time::from_secs(60),
            reply_time: Time::from_secs(60),
            websocket_idle: Time::from_secs(300),
        }
    }
}

impl Config {
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::Unreadable(path.into(), e))?;
        toml::from_str(&text).map_err(|e| Error::Config(path.into(), e.to_string()))
    }

    /// What the types cannot say.
    pub fn checked(self) -> Result<Self> {
        let wrong = |text: String| Err(Error::Setting(text));
        let upstream = &self.upstream;
        if upstream.scheme_str() != Some("http") || upstream.authority().is_none() {
            return wrong(format!(
                "the upstream '{upstream}' must be http://HOST:PORT; over TLS it is not supported"
            ));
        }
        if !matches!(upstream.path(), "" | "/") || upstream.query().is_some() {
            return wrong(format!(
                "the upstream '{upstream}' must have no path: requests keep their own"
            ));
        }
        if self.listen.is_empty() {
            return wrong("listen is empty: name an address, for example 0.0.0.0:80".into());
        }
        if !(1..=3).contains(&self.prefetch.outstanding) {
            return wrong(
                "prefetch.outstanding must be 1 to 3: more would take all of a browser's six connections".into(),
            );
        }
        if !(1..=MOST_HINTS).contains(&self.prefetch.hints()) {
            return wrong(format!("prefetch.hints must be 1 to {MOST_HINTS}"));
        }
        if self.limits.head.0 < 8192 {
            return wrong("limits.head must be at least 8 KiB".into());
        }
        if self.prefetch.size.0 > self.prefetch.buffers.0 {
            return wrong(
                "prefetch.size is larger than prefetch.buffers: nothing of that size could be prefetched".into(),
            );
        }
        Ok(self)
    }
}

impl Prefetch {
    /// What a page names: what its client may have under way, unless the settings say otherwise.
    pub fn hints(&self) -> usize {
        self.hints.unwrap_or(self.outstanding)
    }

    pub fn params(&self) -> Params {
        let preset = match self.preset {
            Preset::Conservative => Params::CONSERVATIVE,
            Preset::Aggressive => Params::AGGRESSIVE,
        };
        Params {
            min_clients: self.clients,
            trust_logs: self.trust_logs,
            memory: self.memory.0 as usize,
            ..preset
        }
    }
}

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, io::Error),
    #[error("{0}: {1}")]
    Config(PathBuf, String),
    #[error("{0}")]
    Setting(String),
    #[error("cannot listen on {0}: {1}; choose another address with --listen or --admin")]
    Listen(SocketAddr, io::Error),
    #[error("{0}: {1}")]
    Tls(PathBuf, String),
    #[error("{0} is used by another netnice-prefetch: stop it, or name another file with --store")]
    StoreInUse(PathBuf),
    #[error("{0}: {1}; move it away to begin anew")]
    Store(PathBuf, String),
    #[error("cannot write {0}: {1}")]
    Unwritable(PathBuf, io::Error),
    #[error(transparent)]
    Predictor(#[from] netnice_prefetch_predictor::Error),
    #[error("cannot start: {0}")]
    Start(io::Error),
}
