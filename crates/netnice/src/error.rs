// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What can go wrong, with the exit status of nice(1).

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// netnice itself failed.
pub const FAILED: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no level {0}: level 0 is the only one so far.\nLeave out -n, or use -n 0.")]
    NoSuchLevel(i64),
    #[error("it is not loaded, and only root can load it.\nTry 'sudo netnice …', or have the administrator run 'netnicectl up'.")]
    NotLoaded,
    #[error("only root can put a process into the background: {}: permission denied.\nTry 'sudo netnice …' ('sudo netnice sudo -u $USER …' keeps your own rights). A program of your own may also yield by itself: setsockopt(TCP_CONGESTION, \"nice\") needs no rights.", .0.display())]
    NotRoot(PathBuf),
    #[error("cannot join {}: {}.\nRun 'netnicectl doctor' to see what is wrong.", .0.display(), .1)]
    Join(PathBuf, io::Error),
    #[error(transparent)]
    Loader(#[from] netnice_loader::Error),
    #[error("'{0}': no such command.\nCheck the spelling and the PATH of root.")]
    NotFound(String),
    #[error("cannot run '{0}': {1}")]
    CannotRun(String, io::Error),
}

impl Error {
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Error::NotFound(_) => NOT_FOUND,
            Error::CannotRun(..) => CANNOT_RUN,
            _ => FAILED,
        }
        .into()
    }
}
