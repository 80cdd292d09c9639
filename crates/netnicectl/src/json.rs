// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Output for programs.

use anyhow::Result;
use netnice_output::print;
use serde::Serialize;

pub fn print_json(value: &impl Serialize) -> Result<()> {
    Ok(print(serde_json::to_string_pretty(value)?)?)
}
