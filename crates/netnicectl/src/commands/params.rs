// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! show and set.

use std::process::ExitCode;

use anyhow::Result;
use netnice_loader::params::{self, Parameter, Row};
use netnice_loader::receiver;
use serde_json::{json, Map, Value};

pub fn show(json: bool) -> Result<ExitCode> {
    let rows = params::show()?;
    let chosen = receiver::status().map_or("unknown", |r| r.algorithm);
    if json {
        let named = |values: &[(Parameter, u32)]| -> Map<String, Value> {
            let pairs = values.iter();
            pairs.map(|(p, v)| (p.name.to_owned(), json!(v))).collect()
        };
        let mut all: Map<String, Value> = rows
            .iter()
            .map(|r| (r.algorithm.to_owned(), named(&r.values).into()))
            .collect();
        all.insert("receiver".into(), json!({ "algorithm": chosen }));
        super::print_json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (receivers, senders): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.receiver);
    print(senders);
    println!("receiver");
    println!(
        "  {:<15}{chosen:>8}  one of off, or those below",
        "algorithm"
    );
    println!(
        "  {:<25}what connections run that yield with what they receive",
        ""
    );
    print(receivers);
    Ok(ExitCode::SUCCESS)
}

fn print(rows: Vec<Row>) {
    for row in rows {
        println!("{}", row.algorithm);
        for (parameter, value) in row.values {
            println!("  {:<15}{value:>8}  {}", parameter.name, parameter.unit);
            println!("  {:<25}{}", "", parameter.why);
        }
    }
}

pub fn set(name: &str, changes: &[(String, String)]) -> Result<ExitCode> {
    params::set(name, changes)?;
    Ok(ExitCode::SUCCESS)
}
