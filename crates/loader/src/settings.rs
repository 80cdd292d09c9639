// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What `up` is asked for, what of it is recorded while netnice is loaded, and what can be set until `down`. These are the
//! parameters of senders and receivers, and which receiver runs.

use std::mem::size_of;
use std::time::{SystemTime, UNIX_EPOCH};

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use serde::{Deserialize, Serialize};

use crate::cgroup::Hierarchy;
use crate::facts::privileged;
use crate::lock::Lock;
use crate::receiver::{self, Params};
use crate::table::{self, is_sound, Rows};
use crate::{pins, sender, Error, Result};

pub use crate::table::{Algorithm, Parameter, Values};

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
        let wanted = |a: &&Algorithm| a.shipped || self.with.iter().any(|w| w == a.name);
        ALGORITHMS.iter().filter(wanted).map(|a| a.name.to_owned()).collect()
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self.with.iter().find(|w| ALGORITHMS.iter().all(|a| a.name != *w)) {
            Some(unknown) => Err(Error::UnknownAlgorithm(unknown.clone(), algorithm_names())),
            None => Ok(()),
        }
    }
}

const KEY: [u8; 4] = [0; 4];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Of the netnice that loaded it.
    pub version: String,
    pub build_id: String,
    /// Seconds since 1970.
    pub since: u64,
    pub algorithms: Vec<String>,
    /// DSCP LE on the sockets of level cgroups that are not called unmarked.
    pub mark: bool,
    /// Why only root can put a process into the background; `None` when every user can.
    #[serde(default)]
    pub hindered: Option<String>,
    /// An up was asked for it, and not only a 'netnice -p' needed it. An older build's state does not say.
    #[serde(default = "receiver::adopting")]
    pub applications: bool,
}

impl State {
    pub(crate) fn new(options: &UpOptions, hindered: Option<String>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build_id: crate::BUILD_ID.to_owned(),
            since: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            algorithms: options.algorithms(),
            mark: options.mark,
            hindered,
            applications: options.applications,
        }
    }

    /// `None` when nothing complete is loaded, or it may not be read.
    pub fn read() -> Option<Self> {
        let map = pins::map(&pins::state())?;
        Self::decode(&map.lookup(&KEY, MapFlags::ANY).ok()??)
    }

    /// The same, or why not.
    pub fn required(purpose: &'static str) -> Result<Self> {
        Self::read().ok_or_else(|| match Hierarchy::find() {
            Ok(hierarchy) if Self::is_hidden(&hierarchy) => Error::Hidden,
            _ => Error::NotUp(purpose),
        })
    }

    /// Something is loaded, and only root can read what.
    pub fn is_hidden(hierarchy: &Hierarchy) -> bool {
        !privileged() && hierarchy.exists()
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let text = value.split(|b| *b == 0).next()?;
        serde_json::from_slice(text).ok()
    }

    /// As long as it is; the kernel rounds values up to eight bytes.
    fn encode(&self) -> Vec<u8> {
        let mut value = serde_json::to_vec(self).expect("strings and numbers");
        value.push(0);
        value
    }

    pub(crate) fn pin(&self) -> Result<()> {
        let value = self.encode();
        let options = libbpf_rs::libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>() as _,
            ..Default::default()
        };
        let (key, size) = (KEY.len() as u32, value.len() as u32);
        let mut map = MapHandle::create(MapType::Array, Some("netnice_state"), key, size, 1, &options)
            .map_err(Error::bpf("create the state map"))?;
        map.update(&KEY, &value, MapFlags::ANY)
            .map_err(Error::bpf("write the state map"))?;
        map.pin(pins::state()).map_err(Error::bpf("pin the state map"))
    }
}

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
    let state = State::required(purpose)?;
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
pub(crate) fn set_sender<'a>(name: &str, changes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<()> {
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

/// The queue above which a segment of level 0 is slow as shipped: percent of the base RTT.
pub fn slow_above() -> u32 {
    let shipped = ALGORITHMS
        .iter()
        .find(|a| a.name == "netnice")
        .map_or(&[][..], |a| a.defaults);
    shipped
        .iter()
        .find(|(name, _)| *name == "threshold")
        .map_or(0, |(_, value)| *value)
}

/// What became of a sender's parameter of 0.1, in words; none: it is what it was.
pub fn since_then(algorithm: &str, parameter: &str) -> Option<String> {
    let found = ALGORITHMS.iter().find(|a| a.name == algorithm)?;
    found.since_then(parameter)
}

/// What [`set`] takes for all receivers together.
pub const RECEIVER: &str = "receiver";

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
    let mut rows: Vec<Row> = rows()?.into_iter().map(sender).collect();
    let receiver = |(algorithm, values)| Row {
        algorithm,
        values,
        receiver: true,
    };
    let receivers = Params::open(&pins::receiver_params())?;
    rows.extend(receivers.rows().map(receiver));
    Ok(rows)
}

/// Of these rows the one of an algorithm. [`RECEIVER`] has none.
pub fn only(name: &str, rows: Vec<Row>) -> Result<Vec<Row>> {
    let loaded: Vec<_> = rows.iter().map(|row| row.algorithm).collect();
    if name == RECEIVER || loaded.contains(&name) {
        return Ok(rows.into_iter().filter(|row| row.algorithm == name).collect());
    }
    Err(match ALGORITHMS.iter().any(|a| a.name == name) {
        true => Error::NotLoaded(name.into(), loaded.join(", ")),
        false => {
            let all = format!("{}, {}", algorithm_names(), table::names(receiver::ALGORITHMS));
            Error::UnknownAlgorithm(name.into(), all)
        }
    })
}

/// Sets `changes` ("key=value" already split) at once, or nothing when one of them is wrong. "receiver" has one key,
/// "algorithm": what all connections run that yield with what they receive.
pub fn set(name: &str, changes: &[(String, String)]) -> Result<()> {
    let state = State::required("set")?;
    if state.build_id != crate::BUILD_ID {
        return Err(Error::OtherBuild);
    }
    let _lock = Lock::take()?;
    let mut pairs = changes.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    if receiver::ALGORITHMS.iter().any(|a| a.name == name) {
        return Params::open(&pins::receiver_params())?.set(name, pairs);
    }
    if name != RECEIVER {
        return set_sender(name, pairs);
    }
    match (pairs.next(), pairs.next()) {
        (Some(("algorithm", value)), None) => Params::open(&pins::receiver_params())?.choose(value),
        (Some((key, _)), _) if key != "algorithm" => Err(Error::UnknownParameter(key.into(), "algorithm".into())),
        _ => Err(Error::Twice("algorithm")),
    }
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
    fn names_of_0_1_are_taken_with_a_note() {
        let levels = ALGORITHMS.iter().filter(|a| a.is_level());
        let mut used = levels.flat_map(|a| a.defaults.iter().map(move |(name, _)| (a, *name)));
        assert!(used.all(|(level, name)| !level.is_gone(name)));
        let then = |algorithm, parameter| since_then(algorithm, parameter).unwrap_or_default();
        assert!(then("netnice1", "climb").contains("no 'climb' any more"));
        assert!(then("netnice", "threshold").contains("'queue_limit' now"));
        for same in [("nice", "beta"), ("nice", "threshold"), ("netnice", "queue_limit")] {
            assert_eq!(since_then(same.0, same.1), None);
        }
    }

    #[test]
    fn the_pages_name_the_default_threshold() {
        let netnice = ALGORITHMS.iter().find(|a| a.name == "netnice").expect("the default");
        let (_, threshold) = netnice
            .defaults
            .iter()
            .find(|(name, _)| *name == "threshold")
            .expect("used");
        let top = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        for page in ["README.md", "docs/research/rfc9743.md"] {
            let text = std::fs::read_to_string(format!("{top}/{page}")).expect(page);
            assert!(
                text.contains(&format!(" {threshold} % of the base RTT")),
                "{page}: {threshold}"
            );
        }
    }

    #[test]
    fn a_state_of_any_length_is_kept() {
        let why = "\u{65e5}".repeat(2000);
        let state = State::new(&UpOptions::default(), Some(why));
        let mut kept = state.encode();
        kept.resize(kept.len().next_multiple_of(8), 0);
        assert_eq!(State::decode(&kept), Some(state));
    }

    #[test]
    fn a_state_of_an_older_build_says_nothing_of_applications() {
        let state = State::new(&UpOptions::default(), None);
        let now = String::from_utf8(state.encode()).expect("text");
        let older = now.replace(",\"applications\":false", "");
        assert_ne!(older, now);
        assert!(State::decode(older.as_bytes()).is_some_and(|state| state.applications == receiver::adopting()));
    }

    #[test]
    fn one_row_of_those_that_are_loaded() {
        let rows = || {
            let row = |algorithm, receiver| Row {
                algorithm,
                values: Vec::new(),
                receiver,
            };
            vec![row("netnice", false), row("netnice1", false), row("tide", true)]
        };
        for (name, found) in [("netnice", 1), ("tide", 1), (RECEIVER, 0)] {
            let names: Vec<_> = only(name, rows())
                .expect("loaded")
                .iter()
                .map(|r| r.algorithm)
                .collect();
            assert_eq!(names, vec![name; found]);
        }
        assert!(matches!(only("nnreno", rows()), Err(Error::NotLoaded(..))));
        assert!(matches!(only("bogus", rows()), Err(Error::UnknownAlgorithm(..))));
    }

    #[test]
    fn the_object_has_the_table() {
        assert!(table::offsets(sender::OBJECT, [TABLE]).is_some());
    }
}
