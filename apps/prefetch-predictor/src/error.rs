// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use thiserror::Error;

/// What can be wrong with what a predictor is given.
#[derive(Debug, Error, PartialEq)]
pub enum Error {
    #[error("{name} is {value}; it must be from {least} to {most}")]
    Range {
        name: &'static str,
        value: f64,
        least: f64,
        most: f64,
    },
    #[error("what was kept does not fit together at {0}; it is from another version, or damaged")]
    Damaged(&'static str),
}
