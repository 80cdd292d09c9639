// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a report is made of, read from results.

use std::path::Path;

use anyhow::{bail, Result};

use crate::action::Direction;
use crate::results::{self, Measurement, Record};
use crate::summary::Summary;
use netnice_output::complain;

/// All that a report is made of.
pub struct Report {
    pub measurements: Vec<Measurement>,
    pub summary: Summary,
    pub host: String,
    /// Measurements that were tried and failed.
    pub failures: usize,
}

impl Report {
    /// Reads results; says what is wrong with them, and goes on with what is whole.
    /// They cannot be read, or hold no measurement.
    pub fn read(path: &Path) -> Result<Self> {
        let (records, damage) = results::read(path)?;
        for damage in damage {
            complain(format!("{}: {damage}", path.display()));
        }
        let (mut measurements, mut failures, mut host) = (Vec::new(), 0, String::from("?"));
        for record in records {
            match record {
                Record::Measurement(measurement) => measurements.push(measurement),
                Record::Failure(_) => failures += 1,
                Record::Start(start) => host = start.host,
            }
        }
        if measurements.is_empty() {
            bail!(
                "{} holds no measurement yet; 'netnice-measure run' adds one every few minutes",
                path.display()
            );
        }
        let summary = Summary::of(&measurements);
        Ok(Self {
            measurements,
            summary,
            host,
            failures,
        })
    }

    /// Those in which anything was measured.
    #[must_use]
    pub fn directions(&self) -> Vec<Direction> {
        let measured = |direction: &Direction| self.summary.rows.iter().any(|row| row.direction == *direction);
        [Direction::Up, Direction::Down].into_iter().filter(measured).collect()
    }
}
