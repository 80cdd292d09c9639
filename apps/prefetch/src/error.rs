// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What can go wrong before requests are answered; afterwards a request has its status, and the rest a warning.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, #[source] io::Error),
    #[error("{0}: {1}")]
    Config(PathBuf, String),
    #[error("{0}")]
    Setting(String),
    #[error("cannot listen on {0}: {1}; choose another address with --listen or --admin")]
    Listen(SocketAddr, #[source] io::Error),
    #[error("{0}: {1}")]
    Tls(PathBuf, String),
    #[error("{0} is used by another netnice-prefetch: stop it, or name another file with --store")]
    StoreInUse(PathBuf),
    #[error("{0}: {1}; move it away to begin anew")]
    Store(PathBuf, String),
    #[error("cannot write {0}: {1}")]
    Unwritable(PathBuf, #[source] io::Error),
    #[error(transparent)]
    Predictor(#[from] netnice_prefetch_predictor::Error),
    #[error("cannot start: {0}")]
    Start(#[source] io::Error),
}
