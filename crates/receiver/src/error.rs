// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What can go wrong, why, and what to do.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {what}: {why:#}")]
    Bpf { what: String, why: libbpf_rs::Error },
    #[error("cannot open {path}: {why}")]
    File { path: PathBuf, why: std::io::Error },
    #[error("cannot print the counters: {0}")]
    Print(std::io::Error),
    #[error("unknown receiver '{0}': choose one of off, {1}")]
    UnknownAlgorithm(String, String),
    #[error("the receiver has no parameter '{0}': its parameters are {1}")]
    UnknownParameter(String, String),
    #[error("'{value}' is no value of '{name}': it is {unit}")]
    BadValue {
        name: String,
        value: String,
        unit: &'static str,
    },
    #[error("the loaded receiver is of another build: run `netnicectl up`")]
    OtherBuild,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn bpf(what: &str) -> impl FnOnce(libbpf_rs::Error) -> Error + '_ {
        move |why| Error::Bpf {
            what: what.to_owned(),
            why,
        }
    }
}
