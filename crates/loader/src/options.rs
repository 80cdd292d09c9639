// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What an up is asked for.

use crate::{params, Error, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpOptions {
    /// Algorithms to register besides the shipped ones.
    pub with: Vec<String>,
    /// DSCP LE on the sockets of the level.
    pub mark: bool,
    /// Applications may have single sockets yield with what they receive.
    pub applications: bool,
    /// Programs in the background may be refused QUIC.
    pub quic: bool,
}

impl Default for UpOptions {
    fn default() -> Self {
        Self {
            with: Vec::new(),
            mark: true,
            applications: false,
            quic: false,
        }
    }
}

impl UpOptions {
    /// In the order of the table, each once.
    pub(crate) fn algorithms(&self) -> Vec<String> {
        let wanted = |a: &&params::Algorithm| a.shipped || self.with.iter().any(|w| w == a.name);
        params::ALGORITHMS
            .iter()
            .filter(wanted)
            .map(|a| a.name.to_owned())
            .collect()
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self
            .with
            .iter()
            .find(|w| params::ALGORITHMS.iter().all(|a| a.name != *w))
        {
            Some(unknown) => Err(Error::UnknownAlgorithm(
                unknown.clone(),
                params::algorithm_names(),
            )),
            None => Ok(()),
        }
    }
}
