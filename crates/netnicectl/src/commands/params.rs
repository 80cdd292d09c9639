// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! show and set.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use netnice_loader::params::{self, Parameter};

pub fn show(json: bool) -> Result<ExitCode> {
    let rows = params::show()?;
    if json {
        let named = |values: &[(&'static Parameter, u32)]| -> BTreeMap<&str, u32> {
            values
                .iter()
                .map(|(parameter, value)| (parameter.name, *value))
                .collect()
        };
        let all: BTreeMap<&str, _> = rows
            .iter()
            .map(|r| (r.algorithm, named(&r.values)))
            .collect();
        super::print_json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    for row in rows {
        println!("{}", row.algorithm);
        for (parameter, value) in row.values {
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
