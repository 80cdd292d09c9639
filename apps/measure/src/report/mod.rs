// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-measure report`: one sentence, a table, the paper's figures 8 and 9, and the numbers for other programs.

mod contents;
mod figures;
mod files;
mod html;
mod sentence;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub use contents::Report;

impl Report {
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
            sentence::markdown(&self.summary)
        )
    }

    /// Writes all files of the report into a folder; gives their paths.
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
                file(&format!("{name}-{direction}.png"), &figures::png(&figure)?)?;
            }
        }
        file("results.parquet", &files::parquet(&self.measurements)?)?;
        for (name, bytes) in files::flent(self)? {
            file(&name, &bytes)?;
        }
        Ok(written)
    }
}
