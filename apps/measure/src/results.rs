// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What was measured: a file of JSON lines that only grows.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use chrono::{DateTime, FixedOffset};
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::action::{Action, Direction};

/// One line of the results; times of day are local to the machine that measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    Start(Start),
    Measurement(Measurement),
    Failure(Failure),
}

/// `netnice-measure run` has begun, or goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Start {
    pub at: DateTime<FixedOffset>,
    pub host: String,
    pub actions: Vec<Action>,
    pub version: String,
}

/// One action was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    pub at: DateTime<FixedOffset>,
    /// Seconds of measuring so far, restarts and the pauses between them left out.
    pub elapsed_s: f64,
    pub action: Action,
    pub direction: Direction,
    /// Of the primary.
    pub bytes: u64,
    /// Of the primary.
    pub seconds: f64,
    /// Of all others while the primary ran.
    pub beside_bytes: u64,
    /// The primary took too long, and was ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Others that ended before the primary did: what they found is more than `beside_bytes`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ended: u32,
    /// 64 bytes, 5 a second.
    pub ping: Option<Latency>,
    /// 200 bytes, 50 a second, both ways.
    pub call: Option<Latency>,
    /// So much did the clock jump since the record before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_jump_s: Option<f64>,
}

/// One action could not be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    pub at: DateTime<FixedOffset>,
    pub elapsed_s: f64,
    pub action: Action,
    pub why: String,
}

/// Round-trip times of datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub sent: u32,
    pub lost: u32,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub max_ms: f64,
}

impl Measurement {
    /// Of the primary, Mbit/s.
    #[must_use]
    pub fn primary_mbit(&self) -> f64 {
        mbit(self.bytes, self.seconds)
    }

    /// Of all others together, Mbit/s.
    #[must_use]
    pub fn beside_mbit(&self) -> f64 {
        mbit(self.beside_bytes, self.seconds)
    }
}

fn mbit(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8e-6 / seconds.max(1e-9)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Record {
    /// Seconds of measuring until this record; none at a start.
    #[must_use]
    pub fn elapsed_s(&self) -> Option<f64> {
        match self {
            Self::Start(_) => None,
            Self::Measurement(m) => Some(m.elapsed_s),
            Self::Failure(f) => Some(f.elapsed_s),
        }
    }
}

/// Records kept in memory while the disk is full: days of them.
const MOST_PENDING: usize = 10_000;

/// Why there are no results, or none can be written.
#[derive(Debug, Error)]
pub enum ResultsError {
    #[error("cannot read the results in {0}: {1}")]
    Read(PathBuf, io::Error),
    #[error("cannot write results to {0}: {1}")]
    Write(PathBuf, io::Error),
    #[error("another netnice-measure writes to {0}; give another --output, or end that one")]
    InUse(PathBuf),
}

/// What was wrong with a file of results. All whole records were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Damage {
    /// The last line was not finished: so many bytes.
    CutOff(usize),
    /// A line is no record; the first is 1.
    NoRecord(usize),
}

impl Display for Damage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutOff(bytes) => write!(
                f,
                "the last record was cut off after {bytes} bytes, as by a power cut, and is left out; all before it are whole"
            ),
            Self::NoRecord(line) => write!(f, "line {line} is no record and is left out; the others are read"),
        }
    }
}

/// Reads all records of a file.
/// It cannot be read.
pub fn read(path: &Path) -> Result<(Vec<Record>, Vec<Damage>), ResultsError> {
    let bytes = fs::read(path).map_err(|e| ResultsError::Read(path.into(), e))?;
    Ok(parse(&bytes))
}

fn parse(bytes: &[u8]) -> (Vec<Record>, Vec<Damage>) {
    let whole = whole(bytes);
    let (mut records, mut damage) = (Vec::new(), Vec::new());
    for (number, line) in bytes[..whole].split(|&byte| byte == b'\n').enumerate() {
        match serde_json::from_slice(line) {
            Ok(record) => records.push(record),
            Err(_) if line.is_empty() => {}
            Err(_) => damage.push(Damage::NoRecord(number + 1)),
        }
    }
    if whole < bytes.len() {
        damage.push(Damage::CutOff(bytes.len() - whole));
    }
    (records, damage)
}

/// Bytes up to the last end of a line.
fn whole(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
}

/// A file that grows by whole records.
#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    file: Flock<File>,
    length: u64,
    pending: VecDeque<String>,
}

impl Results {
    /// Opens or makes the file for one writer, and reads what is there. What a crash has cut off goes.
    /// It cannot be read or written, or another process writes to it.
    pub fn open(path: &Path) -> Result<(Self, Vec<Record>, Vec<Damage>), ResultsError> {
        let failed = |e| ResultsError::Write(path.into(), e);
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(failed)?;
        let file = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|_| ResultsError::InUse(path.into()))?;
        let bytes = fs::read(path).map_err(|e| ResultsError::Read(path.into(), e))?;
        let (records, damage) = parse(&bytes);
        let length = whole(&bytes) as u64;
        if length < bytes.len() as u64 {
            file.set_len(length).map_err(failed)?;
        }
        let pending = VecDeque::new();
        Ok((
            Self {
                path: path.into(),
                file,
                length,
                pending,
            },
            records,
            damage,
        ))
    }

    /// Adds a record. If it cannot be written now it is kept, and written by the next call that can.
    /// It cannot be written now; the disk is full, say.
    pub fn append(&mut self, record: &Record) -> Result<(), ResultsError> {
        let line = serde_json::to_string(record).map_err(|e| self.failed(e.into()))?;
        if self.pending.len() == MOST_PENDING {
            self.pending.pop_front();
        }
        self.pending.push_back(line + "\n");
        self.flush()
    }

    /// Writes what is kept.
    /// It still cannot be written.
    pub fn flush(&mut self) -> Result<(), ResultsError> {
        while let Some(line) = self.pending.front() {
            let written = self
                .file
                .write_all(line.as_bytes())
                .and_then(|()| self.file.sync_data());
            if let Err(e) = written {
                // A part of a line would spoil the next one.
                self.file.set_len(self.length).ok();
                return Err(self.failed(e));
            }
            self.length += line.len() as u64;
            self.pending.pop_front();
        }
        Ok(())
    }

    /// Records that are not on the disk yet.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.pending.len()
    }

    fn failed(&self, e: io::Error) -> ResultsError {
        ResultsError::Write(self.path.clone(), e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Failure;

    fn record(why: &str) -> Record {
        let at = "2026-05-11T12:00:00+02:00".parse().expect("a time");
        let action = "reno/none".parse().expect("an action");
        Record::Failure(Failure {
            at,
            elapsed_s: 1.5,
            action,
            why: why.into(),
        })
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn what_was_written_is_read_again() {
        let folder = folder();
        let path = folder.path().join("results");
        let (mut results, old, damage) = Results::open(&path).expect("opened");
        assert!(old.is_empty() && damage.is_empty());
        for why in ["one", "two"] {
            results.append(&record(why)).expect("written");
        }
        drop(results);
        let (records, damage) = read(&path).expect("read");
        assert_eq!(records, [record("one"), record("two")]);
        assert!(damage.is_empty());
    }

    #[test]
    fn wherever_it_is_cut_off_only_the_last_record_is_lost() {
        let folder = folder();
        let path = folder.path().join("results");
        let (mut results, ..) = Results::open(&path).expect("opened");
        results.append(&record("one")).expect("written");
        let first = fs::metadata(&path).expect("there").len();
        results.append(&record("two")).expect("written");
        drop(results);
        let whole = fs::read(&path).expect("read");
        for cut in first as usize + 1..whole.len() {
            fs::write(&path, &whole[..cut]).expect("written");
            let (mut results, records, damage) = Results::open(&path).expect("opened");
            assert_eq!(records, [record("one")]);
            assert_eq!(damage, [Damage::CutOff(cut - first as usize)]);
            results.append(&record("three")).expect("written");
            drop(results);
            let (records, damage) = read(&path).expect("read");
            assert_eq!(records, [record("one"), record("three")]);
            assert!(damage.is_empty());
        }
    }

    #[test]
    fn a_line_that_is_no_record_hides_no_other() {
        let good = serde_json::to_string(&record("one")).expect("JSON");
        let (records, damage) = parse(format!("{good}\n\0\0\0\n{good}\n").as_bytes());
        assert_eq!(records.len(), 2);
        assert_eq!(damage, [Damage::NoRecord(2)]);
    }

    #[test]
    fn it_has_one_writer() {
        let folder = folder();
        let path = folder.path().join("results");
        let _first = Results::open(&path).expect("opened");
        assert!(matches!(Results::open(&path), Err(ResultsError::InUse(_))));
    }

    #[test]
    fn a_disk_that_is_full_loses_nothing() {
        let folder = folder();
        let path = folder.path().join("results");
        let (mut results, ..) = Results::open(&path).expect("opened");
        let full = OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let full = Flock::lock(full, FlockArg::LockShared).expect("locked");
        let disk = std::mem::replace(&mut results.file, full);
        assert!(results.append(&record("one")).is_err());
        assert!(results.append(&record("two")).is_err());
        assert_eq!(results.kept(), 2);
        results.file = disk;
        results.append(&record("three")).expect("room again");
        drop(results);
        let (records, damage) = read(&path).expect("read");
        assert_eq!(records, ["one", "two", "three"].map(record));
        assert!(damage.is_empty());
    }
}
