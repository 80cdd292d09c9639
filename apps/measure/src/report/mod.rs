// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-measure report`: one sentence, a table, the paper's figures 8 and 9, and the numbers for other programs.

mod figures;
mod flent;
mod html;
mod parquet;
mod picture;
mod sentence;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};

use crate::action::Direction;
use crate::results::{self, Measurement, Record};
use crate::say::say;
use crate::summary::Summary;

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
    ///
    /// # Errors
    /// They cannot be read, or hold no measurement.
    pub fn read(path: &Path) -> Result<Self> {
        let (records, damage) = results::read(path)?;
        for damage in damage {
            say(format!("{}: {damage}", path.display()));
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

    /// What the measurements say, in words: a line for each background.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        sentence::sentences(&self.summary)
    }

    /// For a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        format!(
            "{}\n\n{}",
            self.sentences().join("\n"),
            table::markdown(&self.summary)
        )
    }

    /// Writes all files of the report into a folder; gives their paths.
    ///
    /// # Errors
    /// One cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let what = || format!("cannot write into {}", folder.display());
        fs::create_dir_all(folder).with_context(what)?;
        let mut written = Vec::new();
        let mut file = |name: &str, bytes: &[u8]| -> Result<()> {
            let path = folder.join(name);
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
            written.push(path);
            Ok(())
        };
        file("report.html", html::page(self)?.as_bytes())?;
        for direction in self.directions() {
            for (name, figure) in figures::both(self, direction) {
                file(&format!("{name}-{direction}.png"), &picture::png(&figure)?)?;
            }
        }
        file("results.parquet", &parquet::file(&self.measurements)?)?;
        for (name, bytes) in flent::files(self)? {
            file(&name, &bytes)?;
        }
        Ok(written)
    }

    /// Those in which anything was measured.
    #[must_use]
    pub fn directions(&self) -> Vec<Direction> {
        let measured = |direction: &Direction| {
            self.summary
                .rows
                .iter()
                .any(|row| row.direction == *direction)
        };
        [Direction::Up, Direction::Down]
            .into_iter()
            .filter(measured)
            .collect()
    }
}
