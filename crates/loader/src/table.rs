// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One half's table, the senders' or the receivers': algorithms, parameters, and the rows of values in pinned data.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use libbpf_rs::btf::types::{DataSec, Var};
use libbpf_rs::btf::Btf;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::Serialize;

use crate::{Error, Result};

/// A column: one line of `params.h`. Displayed, it is unit and range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Parameter {
    pub name: &'static str,
    pub unit: &'static str,
    pub least: u32,
    pub most: u32,
    pub why: &'static str,
}

/// A row of `table.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    pub name: &'static str,
    /// The file that decides: rows of one core differ in their parameters.
    pub core: &'static str,
    /// Paper or source: the first sentence of the core's head comment.
    pub about: &'static str,
    /// Loaded by every up; the others only when asked for.
    pub shipped: bool,
    /// The parameters that it uses, with their values before any is set.
    pub defaults: &'static [(&'static str, u32)],
}

/// What the parameters of netnice's levels are called and mean. Other algorithms' have the names of their papers.
struct Term {
    parameter: &'static str,
    name: &'static str,
    unit: &'static str,
    why: &'static str,
}

const TERMS: [Term; 7] = [
    Term {
        parameter: "threshold",
        name: "queue_limit",
        unit: "percent of the RTT without queues",
        why: "a packet that waits longer met congestion",
    },
    Term {
        parameter: "fraction",
        name: "slow_part",
        unit: "percent of a round's segments",
        why: "it yields when more of them met congestion",
    },
    Term {
        parameter: "alpha",
        name: "own_queue",
        unit: "1/16 segment",
        why: "it grows while its connections keep fewer queued",
    },
    Term {
        parameter: "queue_floor",
        name: "timer_noise",
        unit: "microseconds",
        why: "a shorter delay is timer noise; twice that is no congestion",
    },
    Term {
        parameter: "max_gap",
        name: "longest_gap",
        unit: "milliseconds, 0 none",
        why: "longest silence of a connection whose window is below one segment; of n such ones, n times as long",
    },
    Term {
        parameter: "band_packets",
        name: "own_packets",
        unit: "1/16 packet time",
        why: "waiting for so many packets is no congestion",
    },
    Term {
        parameter: "at_least",
        name: "at_least",
        unit: "kbit/s, 0 none",
        why: "all connections of the level together have so much",
    },
];

/// What the levels had in 0.1, before one core decided for all of them. Setting it changes nothing, and is no error until 0.2.
const GONE: [&str; 9] = [
    "beta",
    "band_us",
    "start_window",
    "soft_shift",
    "soft_cuts",
    "quiet_rounds",
    "quiet_pairs",
    "climb",
    "peer_gap",
];

impl Algorithm {
    /// A row of netnice itself.
    pub(crate) fn is_level(&self) -> bool {
        self.core == "netnice"
    }

    /// The parameter as users see it; none: it is for measurement, or the same for all levels.
    fn shown(&self, parameter: &Parameter) -> Option<Parameter> {
        if !self.is_level() {
            return Some(*parameter);
        }
        let &Term { name, unit, why, .. } = TERMS.iter().find(|t| t.parameter == parameter.name)?;
        Some(Parameter {
            name,
            unit,
            why,
            ..*parameter
        })
    }

    /// What a parameter of 0.1 became, in words; none: it is what it was.
    pub(crate) fn since_then(&self, parameter: &str) -> Option<String> {
        if self.is_gone(parameter) {
            return Some(format!(
                "{} has no '{parameter}' any more: it changed nothing",
                self.name
            ));
        }
        let Term { name, unit, .. } = TERMS.iter().find(|t| self.is_level() && t.parameter == parameter)?;
        Some(format!(
            "'{parameter}' of {} is called '{name}' now, in {unit}",
            self.name
        ))
    }

    pub(crate) fn is_gone(&self, parameter: &str) -> bool {
        self.is_level() && GONE.contains(&parameter)
    }
}

/// Parameters with their values.
pub type Values = Vec<(Parameter, u32)>;

impl Display for Parameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} to {}", self.unit, self.least, self.most)
    }
}

impl Parameter {
    fn check(&self, text: &str) -> Result<u32> {
        let value: Option<u32> = text.parse().ok();
        let fits = |value: &u32| (self.least..=self.most).contains(value);
        value.filter(fits).ok_or_else(|| Error::BadValue {
            name: self.name,
            value: text.into(),
            range: self.to_string(),
        })
    }
}

/// Does every row use columns that exist, with values in their ranges? To be asserted at compile time.
pub(crate) const fn is_sound(parameters: &[Parameter], algorithms: &[Algorithm]) -> bool {
    let mut a = 0;
    while a < algorithms.len() {
        let mut d = 0;
        while d < algorithms[a].defaults.len() {
            let (name, value) = algorithms[a].defaults[d];
            let mut p = 0;
            while p < parameters.len() && !same(parameters[p].name, name) {
                p += 1;
            }
            if p == parameters.len() || value < parameters[p].least || value > parameters[p].most {
                return false;
            }
            d += 1;
        }
        a += 1;
    }
    true
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// The names of these rows, for an error.
pub(crate) fn names(algorithms: &[Algorithm]) -> String {
    let names: Vec<_> = algorithms.iter().map(|a| a.name).collect();
    names.join(", ")
}

/// The live rows, in the data of a loaded object.
pub(crate) struct Rows {
    map: MapHandle,
    bytes: Vec<u8>,
    start: usize,
    parameters: &'static [Parameter],
}

impl Rows {
    /// Opens them by the pin of the object's data; `start` is where the table begins there.
    pub(crate) fn open(pin: &Path, start: usize, parameters: &'static [Parameter]) -> Result<Self> {
        let map = MapHandle::from_pinned_path(pin).map_err(Error::bpf("open the live parameters"))?;
        let value = map
            .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
            .map_err(Error::bpf("read the live parameters"))?;
        Ok(Self {
            map,
            bytes: value.unwrap_or_default(),
            start,
            parameters,
        })
    }

    /// A word of the data; 0 when there is none.
    pub(crate) fn word(&self, at: usize) -> u32 {
        self.bytes
            .get(at..at + 4)
            .map_or(0, |w| u32::from_ne_bytes(w.try_into().expect("four bytes")))
    }

    pub(crate) fn put(&mut self, at: usize, value: u32) -> Result<()> {
        self.bytes
            .get_mut(at..at + 4)
            .ok_or(Error::OtherBuild)?
            .copy_from_slice(&value.to_ne_bytes());
        Ok(())
    }

    fn at(&self, row: usize, column: usize) -> usize {
        self.start + 4 * (row * self.parameters.len() + column)
    }

    /// The parameters that the algorithm of this row uses, with their places and in the order of the columns.
    fn used<'a>(&'a self, algorithm: &'a Algorithm) -> impl Iterator<Item = (usize, &'static Parameter)> + 'a {
        let uses = |name| algorithm.defaults.iter().any(|(used, _)| *used == name);
        let all = self.parameters.iter().enumerate();
        all.filter(move |(_, p)| uses(p.name))
    }

    pub(crate) fn values(&self, row: usize, algorithm: &Algorithm) -> Values {
        self.used(algorithm)
            .filter_map(|(column, p)| Some((algorithm.shown(p)?, self.word(self.at(row, column)))))
            .collect()
    }

    /// Sets values ("name", "value"), or nothing when one of them is wrong.
    pub(crate) fn set<'a>(
        &mut self,
        row: usize,
        algorithm: &Algorithm,
        changes: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<()> {
        for (name, text) in changes.into_iter().filter(|(name, _)| !algorithm.is_gone(name)) {
            let mut found = Vec::new();
            for (column, p) in self.used(algorithm) {
                let shown = algorithm.shown(p).unwrap_or(*p);
                if shown.name == name || p.name == name {
                    found.push((self.at(row, column), shown.check(text)?));
                }
            }
            if found.is_empty() {
                let names = self.used(algorithm).filter_map(|(_, p)| algorithm.shown(p));
                let names: Vec<_> = names.map(|p| p.name).collect();
                return Err(Error::UnknownParameter(name.into(), names.join(", ")));
            }
            for (at, value) in found {
                self.put(at, value)?;
            }
        }
        self.save()
    }

    pub(crate) fn save(&self) -> Result<()> {
        self.map
            .update(&0u32.to_ne_bytes(), &self.bytes, MapFlags::ANY)
            .map_err(Error::bpf("write the live parameters"))
    }
}

/// Where variables lie in an object's .data.
pub(crate) fn offsets<const N: usize>(object: &[u8], variables: [&str; N]) -> Option<[usize; N]> {
    let btf = Btf::from_raw("netnice", object).ok()??;
    let data: DataSec<'_> = btf.type_by_name(".data")?;
    let mut found = [0; N];
    for (offset, wanted) in found.iter_mut().zip(variables) {
        *offset = data.iter().find_map(|v| {
            let variable: Var<'_> = btf.type_by_id(v.ty)?;
            (variable.name()?.to_str()? == wanted).then_some(v.offset as usize)
        })?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: Parameter = Parameter {
        name: "floor",
        unit: "segments",
        least: 1,
        most: 10,
        why: "",
    };

    const fn row(defaults: &'static [(&'static str, u32)]) -> Algorithm {
        Algorithm {
            name: "toy",
            core: "toy",
            about: "",
            shipped: true,
            defaults,
        }
    }

    #[test]
    fn a_row_outside_of_its_ranges_is_unsound() {
        assert!(is_sound(
            &[FLOOR],
            &[row(&[("floor", 1)]), row(&[("floor", 10)]), row(&[])]
        ));
        for bad in [&[("floor", 0)], &[("floor", 11)], &[("flo", 5)]] {
            assert!(!is_sound(&[FLOOR], &[row(&[("floor", 5)]), row(bad)]), "{bad:?}");
        }
    }

    #[test]
    fn a_bad_value_is_refused_with_name_unit_least_and_most() {
        assert_eq!(FLOOR.check("10").expect("in range"), 10);
        for bad in ["0", "11", "-1", "ten", "", "4294967296"] {
            let said = FLOOR.check(bad).expect_err(bad).to_string();
            assert!(said.contains("floor") && said.contains("segments, 1 to 10"), "{said}");
        }
    }
}
