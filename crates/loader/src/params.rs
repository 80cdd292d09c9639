// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The senders of `algorithms/sender/table.h`, and their parameters: live in the sender's pinned data.

use crate::state::State;
use crate::table::{self, is_sound, Rows};
use crate::{pins, sender, Error, Result};

pub use crate::table::{Algorithm, Parameter, Values};

include!(concat!(env!("OUT_DIR"), "/senders.rs"));

const _: () = assert!(
    is_sound(PARAMETERS, ALGORITHMS),
    "a sender's default is outside of its range"
);

const TABLE: &str = "nn_params_table";

pub fn algorithm_names() -> String {
    table::names(ALGORITHMS)
}

fn open(purpose: &'static str) -> Result<(Rows, Vec<String>)> {
    let state = State::read().ok_or(Error::NotUp(purpose))?;
    if state.build_id != crate::BUILD_ID {
        return Err(Error::OtherBuild);
    }
    let [start] = table::offsets(sender::OBJECT, [TABLE]).ok_or(Error::OtherBuild)?;
    let rows = Rows::open(&pins::params(), start, PARAMETERS)?;
    Ok((rows, state.algorithms))
}

/// Of every sender that is loaded: its parameters and their values.
pub(crate) fn rows() -> Result<Vec<(&'static str, Values)>> {
    let (rows, loaded) = open("show")?;
    let all = ALGORITHMS.iter().enumerate();
    Ok(all
        .filter(|(_, a)| loaded.iter().any(|l| l == a.name))
        .map(|(i, a)| (a.name, rows.values(i, a)))
        .collect())
}

/// Sets `changes` ("key=value" already split) at once, or nothing when one of them is wrong.
pub(crate) fn set<'a>(
    name: &str,
    changes: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<()> {
    let (mut rows, loaded) = open("set")?;
    let row = ALGORITHMS
        .iter()
        .position(|a| a.name == name)
        .ok_or_else(|| Error::UnknownAlgorithm(name.into(), algorithm_names()))?;
    if !loaded.iter().any(|l| l == name) {
        return Err(Error::NotLoaded(name.into(), loaded.join(", ")));
    }
    rows.set(row, &ALGORITHMS[row], changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_shipped_and_names_are_unique() {
        assert!(ALGORITHMS.iter().any(|a| a.name == "netnice" && a.shipped));
        for (i, a) in ALGORITHMS.iter().enumerate() {
            assert!(ALGORITHMS[..i].iter().all(|b| b.name != a.name));
            assert!(!a.defaults.is_empty(), "{}", a.name);
        }
    }

    #[test]
    fn the_object_has_the_table() {
        assert!(table::offsets(sender::OBJECT, [TABLE]).is_some());
    }
}
