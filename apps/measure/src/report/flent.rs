// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A file for flent's viewer for each action: version 4 of its data format, as a test of TCP with a ping.
//!
//! Flent's x is seconds of one test; here it is seconds since the first measurement, of days perhaps.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use flate2::write::GzEncoder;
use flate2::Compression;
use serde_json::{json, Value};

use super::contents::Report;
use crate::action::{Action, Direction};
use crate::results::Measurement;

const VERSION: u32 = 4;

/// Names and bytes.
pub fn files(report: &Report) -> Result<Vec<(String, Vec<u8>)>> {
    let mut groups: BTreeMap<(Direction, &Action), Vec<&Measurement>> = BTreeMap::new();
    for measurement in &report.measurements {
        groups
            .entry((measurement.direction, &measurement.action))
            .or_default()
            .push(measurement);
    }
    let file = |((direction, action), group): (&(Direction, &Action), &Vec<&Measurement>)| {
        let text = serde_json::to_vec(&document(report, *direction, action, group))?;
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&text)?;
        let name = action.to_string().replace('/', "-");
        Ok((format!("{name}-{direction}.flent.gz"), gzip.finish()?))
    };
    groups.iter().map(file).collect()
}

fn document(
    report: &Report,
    direction: Direction,
    action: &Action,
    group: &[&Measurement],
) -> Value {
    let (test, series) = match direction {
        Direction::Up => ("tcp_upload", "TCP upload"),
        Direction::Down => ("tcp_download", "TCP download"),
    };
    let begun = report.measurements[0].at;
    // By elapsed time where the clock has jumped: x must not go back.
    let x: Vec<f64> = group.iter().map(|m| m.elapsed_s).collect();
    let rates: Vec<f64> = group.iter().map(|m| m.primary_mbit()).collect();
    let pings: Vec<Option<f64>> = group
        .iter()
        .map(|m| m.ping.map(|ping| ping.p50_ms))
        .collect();
    let length = x.last().copied().unwrap_or(0.0).ceil();
    let time = begun.format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
    json!({
        "version": VERSION,
        "metadata": {
            "NAME": test,
            "TITLE": action.to_string(),
            "DATA_FILENAME": null,
            "HOST": report.host,
            "HOSTS": [report.host],
            "LOCAL_HOST": "netnice-measure",
            "LENGTH": length,
            "TOTAL_LENGTH": length,
            "STEP_SIZE": length / group.len().max(1) as f64,
            "TIME": time,
            "T0": time,
            "NOTE": format!("netnice-measure {}: {action}, {direction}; x is seconds of measuring", env!("CARGO_PKG_VERSION")),
            "FLENT_VERSION": "2.0.0",
            "IP_VERSION": null,
            "SERIES_META": {},
            "TEST_PARAMETERS": {},
            "FAILED_RUNNERS": 0,
        },
        "x_values": x,
        "results": { series: rates, "Ping (ms) ICMP": pings },
        "raw_values": {},
    })
}
