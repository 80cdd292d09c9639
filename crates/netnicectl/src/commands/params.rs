// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! show and set.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use netnice_loader::params::{self, PARAMETERS};

pub fn show(json: bool) -> Result<ExitCode> {
    let rows = params::show()?;
    if json {
        let named = |values: &[u32]| -> BTreeMap<&str, u32> {
            PARAMETERS.iter().map(|p| p.name).zip(values.iter().copied()).collect()
        };
        let all: BTreeMap<&str, _> = rows.iter().map(|r| (r.algorithm.as_str(), named(&r.values))).collect();
        super::print_json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    for row in rows {
        println!("{}", row.algorithm);
        for (parameter, value) in PARAMETERS.iter().zip(row.values) {
            println!("  {:<15}{value:>8}  {}", parameter.name, parameter.unit);
            println!("  {:<25}{}", "", parameter.why);
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub fn set(name: &str, changes: &[(String, String)]) -> Result<ExitCode> {
    params::set(name, changes)?;
    Ok(ExitCode::SUCCESS)
}
