// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The senders, and their parameters: live in the sender's pinned data, one row of u32 each.

use libbpf_rs::btf::types::{DataSec, Var};
use libbpf_rs::btf::Btf;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::Serialize;

use crate::state::State;
use crate::{pins, sender, Error, Result};

/// One row of algorithms/sender/table.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    pub name: &'static str,
    /// The file that decides: rows of one core differ in their parameters.
    pub core: &'static str,
    /// Paper or source: the first sentence of the core's head comment.
    pub about: &'static str,
    /// Registered by every up; the others only when asked for.
    pub shipped: bool,
    /// The names of its parameters.
    pub uses: &'static [&'static str],
    /// Their values before anybody sets them, as the core's file writes them.
    pub defaults: &'static [&'static str],
}

/// One line of algorithms/common/params.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Parameter {
    pub name: &'static str,
    pub unit: &'static str,
    pub why: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/senders.rs"));

impl Algorithm {
    /// Its parameters, each with its place in the row.
    pub fn parameters(&self) -> impl Iterator<Item = (usize, &'static Parameter)> + '_ {
        let all = PARAMETERS.iter().enumerate();
        all.filter(|(_, p)| self.uses.contains(&p.name))
    }
}

impl Parameter {
    /// What the unit's text says: "…, 1 to 10", a percentage, or any u32.
    fn range(&self) -> std::ops::RangeInclusive<u32> {
        if self.unit.starts_with("percent") {
            return 0..=100;
        }
        let bounds = self.unit.split_once(" to ").and_then(|(low, high)| {
            let low = low.rsplit(' ').next()?.parse().ok()?;
            let high = high
                .split(|c: char| !c.is_ascii_digit())
                .next()?
                .parse()
                .ok()?;
            Some(low..=high)
        });
        bounds.unwrap_or(0..=u32::MAX)
    }

    fn check(&self, text: &str) -> Result<u32> {
        let range = self.range();
        let bad = |why: String| Error::BadValue {
            name: self.name.into(),
            value: text.into(),
            why,
        };
        let value: u32 = text
            .parse()
            .map_err(|_| bad(format!("it is a whole number ({})", self.unit)))?;
        if range.contains(&value) {
            return Ok(value);
        }
        Err(bad(format!(
            "it lies between {} and {} ({})",
            range.start(),
            range.end(),
            self.unit
        )))
    }
}

pub fn algorithm_names() -> String {
    let names: Vec<_> = ALGORITHMS.iter().map(|a| a.name).collect();
    names.join(", ")
}

/// Parameters with their values.
pub type Values = Vec<(Parameter, u32)>;

/// Of every sender that is loaded: its parameters and their values.
pub(crate) fn rows() -> Result<Vec<(&'static str, Values)>> {
    let table = Table::open("show")?;
    let loaded = |a: &&Algorithm| table.loaded.iter().any(|l| l == a.name);
    let senders = ALGORITHMS.iter().filter(loaded);
    Ok(senders.map(|a| (a.name, table.row(a))).collect())
}

/// Sets `changes` ("key=value" already split) at once, or nothing when one of them is wrong.
pub(crate) fn set(algorithm: &str, changes: &[(String, String)]) -> Result<()> {
    let mut table = Table::open("set")?;
    let known = ALGORITHMS.iter().find(|a| a.name == algorithm);
    let row = known.ok_or_else(|| Error::UnknownAlgorithm(algorithm.into(), algorithm_names()))?;
    if !table.loaded.iter().any(|l| l == algorithm) {
        return Err(Error::NotLoaded(algorithm.into(), table.loaded.join(", ")));
    }
    for (key, text) in changes {
        let (index, parameter) = row
            .parameters()
            .find(|(_, p)| p.name == key)
            .ok_or_else(|| Error::UnknownParameter(key.clone(), row.uses.join(", ")))?;
        table.write(algorithm, index, parameter.check(text)?);
    }
    table.save()
}

struct Table {
    map: MapHandle,
    bytes: Vec<u8>,
    /// Where the rows begin in the map's value.
    start: usize,
    loaded: Vec<String>,
}

impl Table {
    fn open(purpose: &'static str) -> Result<Self> {
        let state = State::read().ok_or(Error::NotUp(purpose))?;
        if state.build_id != crate::BUILD_ID {
            return Err(Error::OtherBuild);
        }
        let map = MapHandle::from_pinned_path(pins::params())
            .map_err(Error::bpf("open the parameters"))?;
        let value = map
            .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
            .map_err(Error::bpf("read the parameters"))?;
        let (bytes, start) = (
            value.unwrap_or_default(),
            start_of_rows().ok_or(Error::OtherBuild)?,
        );
        Ok(Self {
            map,
            bytes,
            start,
            loaded: state.algorithms,
        })
    }

    fn at(&self, algorithm: &str, index: usize) -> usize {
        let row = ALGORITHMS
            .iter()
            .position(|a| a.name == algorithm)
            .unwrap_or(0);
        self.start + 4 * (row * PARAMETERS.len() + index)
    }

    fn row(&self, algorithm: &Algorithm) -> Values {
        let value = |index| {
            let at = self.at(algorithm.name, index);
            u32::from_ne_bytes(self.bytes[at..at + 4].try_into().expect("four bytes"))
        };
        algorithm
            .parameters()
            .map(|(index, parameter)| (*parameter, value(index)))
            .collect()
    }

    fn write(&mut self, algorithm: &str, index: usize, value: u32) {
        let at = self.at(algorithm, index);
        self.bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    }

    fn save(&self) -> Result<()> {
        self.map
            .update(&0u32.to_ne_bytes(), &self.bytes, MapFlags::ANY)
            .map_err(Error::bpf("write the parameters"))
    }
}

// The one variable in .data that has the size of the table.
fn start_of_rows() -> Option<usize> {
    let size = 4 * PARAMETERS.len() * ALGORITHMS.len();
    let btf = Btf::from_raw("sender", sender::OBJECT).ok()??;
    let data: DataSec<'_> = btf.type_by_name(".data")?;
    let rows = data
        .iter()
        .find(|v| v.size == size && btf.type_by_id::<Var<'_>>(v.ty).is_some())?;
    usize::try_from(rows.offset).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_unit(unit: &'static str) -> Parameter {
        Parameter {
            name: "p",
            unit,
            why: "",
        }
    }

    #[test]
    fn the_default_is_shipped_and_names_are_unique() {
        assert!(ALGORITHMS.iter().any(|a| a.name == "netnice" && a.shipped));
        for (i, a) in ALGORITHMS.iter().enumerate() {
            assert!(ALGORITHMS[..i].iter().all(|b| b.name != a.name));
        }
        assert!(PARAMETERS.iter().any(|p| p.name == "threshold"));
    }

    #[test]
    fn every_algorithm_names_parameters_that_exist() {
        for a in ALGORITHMS {
            assert!(!a.uses.is_empty(), "{}", a.name);
            assert_eq!(a.parameters().count(), a.uses.len(), "{}", a.name);
        }
    }

    #[test]
    fn ranges_come_from_the_unit() {
        assert_eq!(of_unit("percent of the buffer").range(), 0..=100);
        assert_eq!(
            of_unit("1/4096 segment, 1 to 4096000").range(),
            1..=4_096_000
        );
        assert_eq!(of_unit("segments").range(), 0..=u32::MAX);
    }

    #[test]
    fn values_are_checked() {
        assert_eq!(
            of_unit("segments, 1 to 10").check("10").expect("in range"),
            10
        );
        for bad in ["0", "11", "-1", "ten", ""] {
            assert!(of_unit("segments, 1 to 10").check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_object_has_the_table() {
        assert!(start_of_rows().is_some());
    }
}
