// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What can be set while netnice is up: the parameters of senders and receivers, and which receiver runs.

use crate::lock::Lock;
use crate::params::{self, Values};
use crate::receiver::{Params, ALGORITHMS};
use crate::state::State;
use crate::{pins, Error, Result};

/// What [`set`] takes for all receivers together.
const RECEIVER: &str = "receiver";

/// The live values of one algorithm: only of the parameters that it uses.
#[derive(Debug, Clone)]
pub struct Row {
    pub algorithm: &'static str,
    pub values: Values,
    /// It works on what is received.
    pub receiver: bool,
}

/// Of every algorithm that is loaded: the senders', then the receivers'.
pub fn show() -> Result<Vec<Row>> {
    let sender = |(algorithm, values)| Row {
        algorithm,
        values,
        receiver: false,
    };
    let mut rows: Vec<Row> = params::rows()?.into_iter().map(sender).collect();
    let receiver = |(algorithm, values)| Row {
        algorithm,
        values,
        receiver: true,
    };
    let receivers = Params::open(&pins::receiver_params())?;
    rows.extend(receivers.rows().map(receiver));
    Ok(rows)
}

/// Sets `changes` ("key=value" already split) at once, or nothing when one of them is wrong. "receiver" has one key,
/// "algorithm": what all connections run that yield with what they receive.
pub fn set(name: &str, changes: &[(String, String)]) -> Result<()> {
    let state = State::read().ok_or(Error::NotUp("set"))?;
    if state.build_id != crate::BUILD_ID {
        return Err(Error::OtherBuild);
    }
    let _lock = Lock::take()?;
    let mut pairs = changes.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    if ALGORITHMS.iter().any(|a| a.name == name) {
        return Params::open(&pins::receiver_params())?.set(name, pairs);
    }
    if name != RECEIVER {
        return params::set(name, pairs);
    }
    match (pairs.next(), pairs.next()) {
        (Some(("algorithm", value)), None) => Params::open(&pins::receiver_params())?.choose(value),
        (Some((key, _)), _) if key != "algorithm" => {
            Err(Error::UnknownParameter(key.into(), "algorithm".into()))
        }
        _ => Err(Error::Twice("algorithm")),
    }
}
