// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receivers of `algorithms/receiver/table.h`, which of them runs, and their parameters: live in pinned data.

use std::path::Path;

use super::object::OBJECT;
use crate::table::{self, is_sound, Rows};
use crate::{Error, Result};

pub use crate::table::{Algorithm, Parameter, Values};

include!(concat!(env!("OUT_DIR"), "/receivers.rs"));

const _: () = assert!(
    is_sound(PARAMETERS, ALGORITHMS),
    "a receiver's default is outside of its range"
);

/// The name of no algorithm: the kernel's own window.
pub const OFF: &str = "off";
const OFF_ROW: u32 = u32::MAX;
const TABLE: &str = "nn_receiver_table";
const CHOSEN: &str = "nn_receiver_chosen";

/// The pinned parameters of a loaded receiver.
pub struct Params {
    rows: Rows,
    chosen: usize,
}

impl Params {
    /// Opens them by the pin of the data map.
    pub fn open(pin: &Path) -> Result<Self> {
        let [start, chosen] = table::offsets(OBJECT, [TABLE, CHOSEN]).ok_or(Error::OtherBuild)?;
        let rows = Rows::open(pin, start, PARAMETERS)?;
        Ok(Self { rows, chosen })
    }

    /// The algorithm that every connection runs now, or "off".
    pub fn chosen(&self) -> &'static str {
        ALGORITHMS
            .get(self.rows.word(self.chosen) as usize)
            .map_or(OFF, |a| a.name)
    }

    /// Of every receiver: its parameters and their values.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, Values)> + '_ {
        let all = ALGORITHMS.iter().enumerate();
        all.map(|(i, a)| (a.name, self.rows.values(i, a)))
    }

    /// Live connections change to it at their next arrival; "off" gives them back to the kernel.
    pub fn choose(&mut self, algorithm: &str) -> Result<()> {
        let row = if algorithm == OFF {
            OFF_ROW
        } else {
            index(algorithm)? as u32
        };
        self.rows.put(self.chosen, row)?;
        self.rows.save()
    }

    /// Sets values ("name", "value"), or nothing when one of them is wrong.
    pub fn set<'a>(
        &mut self,
        algorithm: &str,
        changes: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<()> {
        let row = index(algorithm)?;
        self.rows.set(row, &ALGORITHMS[row], changes)
    }
}

fn index(algorithm: &str) -> Result<usize> {
    ALGORITHMS
        .iter()
        .position(|a| a.name == algorithm)
        .ok_or_else(|| Error::UnknownReceiver(algorithm.into(), table::names(ALGORITHMS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_receiver_has_another_name() {
        assert!(index("nonsense").is_err());
        assert_eq!(index("tide").expect("the default"), 0);
    }

    #[test]
    fn both_objects_have_table_and_choice_at_the_same_place() {
        let both = table::offsets(OBJECT, [TABLE, CHOSEN]);
        let [start, chosen] = both.expect("both");
        assert_eq!(
            table::offsets(super::super::object::ADOPTED, [TABLE, CHOSEN]),
            both
        );
        assert_ne!(start, chosen);
    }
}
