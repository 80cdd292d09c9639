// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receiver algorithms and their parameters, live in the pinned data of the loaded object.

use std::path::Path;

use libbpf_rs::btf::types::{DataSec, Var};
use libbpf_rs::btf::Btf;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::Serialize;

use super::object::OBJECT;
use crate::{Error, Result};

/// One row of algorithms/receiver/table.h. The first is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    pub name: &'static str,
    /// The file that decides: rows of one core differ in their parameters.
    pub core: &'static str,
    /// Paper or source: the first sentence of the core's head comment.
    pub about: &'static str,
    pub defaults: &'static [u32],
}

/// One line of algorithms/receiver/params.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Parameter {
    pub name: &'static str,
    /// Unit and range, in words.
    pub unit: &'static str,
    pub why: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/receivers.rs"));

/// The name of no algorithm: the kernel's own window.
pub const OFF: &str = "off";
const OFF_ROW: u32 = u32::MAX;

impl Parameter {
    /// The bounds are the two numbers of "unit, LOW to HIGH".
    fn range(&self) -> Option<(u32, u32)> {
        let (low, high) = self.unit.rsplit_once(", ")?.1.split_once(" to ")?;
        Some((low.parse().ok()?, high.parse().ok()?))
    }

    fn check(&self, text: &str) -> Result<u32> {
        let bad = || Error::NoValue {
            name: self.name.into(),
            value: text.into(),
            unit: self.unit,
        };
        let value = text.parse().map_err(|_| bad())?;
        match self.range() {
            Some((low, high)) if (low..=high).contains(&value) => Ok(value),
            _ => Err(bad()),
        }
    }
}

fn names() -> String {
    ALGORITHMS
        .iter()
        .map(|a| a.name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The pinned parameters of a loaded receiver.
pub struct Params {
    map: MapHandle,
    bytes: Vec<u8>,
    rows: usize,
    chosen: usize,
}

impl Params {
    /// Opens them by the pin of the data map.
    pub fn open(pin: &Path) -> Result<Self> {
        let map = MapHandle::from_pinned_path(pin)
            .map_err(Error::bpf("open the receiver's parameters"))?;
        let value = map
            .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
            .map_err(Error::bpf("read the receiver's parameters"))?;
        let (rows, chosen) = layout().ok_or(Error::OtherBuild)?;
        Ok(Self {
            map,
            bytes: value.unwrap_or_default(),
            rows,
            chosen,
        })
    }

    fn word(&self, at: usize) -> u32 {
        self.bytes
            .get(at..at + 4)
            .map_or(0, |w| u32::from_ne_bytes(w.try_into().expect("four bytes")))
    }

    fn put(&mut self, at: usize, value: u32) -> Result<()> {
        self.bytes
            .get_mut(at..at + 4)
            .ok_or(Error::OtherBuild)?
            .copy_from_slice(&value.to_ne_bytes());
        Ok(())
    }

    /// The algorithm that every connection runs now, or "off".
    pub fn chosen(&self) -> &'static str {
        ALGORITHMS
            .get(self.word(self.chosen) as usize)
            .map_or(OFF, |a| a.name)
    }

    /// The values of an algorithm, in the order of [`PARAMETERS`].
    pub fn row(&self, algorithm: &str) -> Result<Vec<u32>> {
        let row = index(algorithm)?;
        Ok((0..PARAMETERS.len())
            .map(|i| self.word(self.at(row, i)))
            .collect())
    }

    fn at(&self, row: usize, parameter: usize) -> usize {
        self.rows + 4 * (row * PARAMETERS.len() + parameter)
    }

    /// Live connections change to it at their next arrival; "off" gives them back to the kernel.
    pub fn choose(&mut self, algorithm: &str) -> Result<()> {
        let row = if algorithm == OFF {
            OFF_ROW
        } else {
            index(algorithm)? as u32
        };
        self.put(self.chosen, row)?;
        self.save()
    }

    /// Sets values ("name", "value"), or nothing when one of them is wrong.
    pub fn set<'a>(
        &mut self,
        algorithm: &str,
        changes: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<()> {
        let row = index(algorithm)?;
        for (name, text) in changes {
            let (i, parameter) = PARAMETERS
                .iter()
                .enumerate()
                .find(|(_, p)| p.name == name)
                .ok_or_else(|| {
                    let all: Vec<_> = PARAMETERS.iter().map(|p| p.name).collect();
                    Error::UnknownParameter(name.into(), all.join(", "))
                })?;
            self.put(self.at(row, i), parameter.check(text)?)?;
        }
        self.save()
    }

    fn save(&self) -> Result<()> {
        self.map
            .update(&0u32.to_ne_bytes(), &self.bytes, MapFlags::ANY)
            .map_err(Error::bpf("write the receiver's parameters"))
    }
}

fn index(algorithm: &str) -> Result<usize> {
    ALGORITHMS
        .iter()
        .position(|a| a.name == algorithm)
        .ok_or_else(|| Error::UnknownReceiver(algorithm.into(), names()))
}

/// Where the table and the choice lie in .data.
fn layout() -> Option<(usize, usize)> {
    layout_of(OBJECT)
}

fn layout_of(object: &[u8]) -> Option<(usize, usize)> {
    let btf = Btf::from_raw("receiver", object).ok()??;
    let data: DataSec<'_> = btf.type_by_name(".data")?;
    let find = |wanted: &str| {
        data.iter().find_map(|v| {
            let var: Var<'_> = btf.type_by_id(v.ty)?;
            (var.name()?.to_str()? == wanted).then_some(v.offset as usize)
        })
    };
    Some((find("nn_receiver_table")?, find("nn_receiver_chosen")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_lies_within_its_parameters_ranges() {
        for a in ALGORITHMS {
            assert_eq!(a.defaults.len(), PARAMETERS.len(), "{}", a.name);
            for (p, v) in PARAMETERS.iter().zip(a.defaults) {
                assert_eq!(
                    p.check(&v.to_string()).expect("in range"),
                    *v,
                    "{} {}",
                    a.name,
                    p.name
                );
            }
        }
    }

    #[test]
    fn bad_values_are_refused() {
        for bad in ["0", "11", "-1", "x", ""] {
            let floor = PARAMETERS
                .iter()
                .find(|p| p.name == "floor")
                .expect("floor");
            assert!(floor.check(bad).is_err(), "{bad}");
        }
        assert!(index("nonsense").is_err());
    }

    #[test]
    fn the_object_has_table_and_choice() {
        let (rows, chosen) = layout().expect("both");
        assert_ne!(rows, chosen);
        assert_eq!(
            layout_of(super::super::object::ADOPTED),
            Some((rows, chosen)),
            "they share them"
        );
    }
}
