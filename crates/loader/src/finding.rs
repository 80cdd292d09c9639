// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What was found of one thing that netnice needs.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Ok,
    /// Not as usual, but netnice copes.
    Note,
    /// Needed, and missing.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub name: &'static str,
    pub verdict: Verdict,
    /// What was found.
    pub state: String,
    /// What netnice needs it for.
    pub why: &'static str,
    /// What to do about it; empty when all is well.
    pub remedy: String,
}
