// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! W3C extended log format: a `#Fields:` line names the columns of those below it.

use std::time::Duration;

use chrono::NaiveDateTime;

use super::record::{client, Record};

#[derive(Debug, Default)]
pub(super) struct Fields(Vec<String>);

impl Fields {
    /// Whether the line is a comment or header; takes the names from it.
    pub fn header(&mut self, line: &str) -> bool {
        if let Some(names) = line.strip_prefix("#Fields:") {
            self.0 = names.split_whitespace().map(str::to_owned).collect();
        }
        line.starts_with('#')
    }

    pub fn record(&self, line: &str) -> Option<Record> {
        let column = |name: &str| {
            let at = self.0.iter().position(|n| n == name)?;
            line.split_whitespace()
                .nth(at)
                .filter(|value| *value != "-")
        };
        let time = format!("{} {}", column("date")?, column("time")?);
        let time = NaiveDateTime::parse_from_str(&time, "%Y-%m-%d %H:%M:%S%.f").ok()?;
        let stem = column("cs-uri-stem")?;
        let url = match column("cs-uri-query") {
            Some(query) => format!("{stem}?{query}"),
            None => stem.to_owned(),
        };
        let program = column("cs(User-Agent)").unwrap_or_default();
        Some(Record {
            at: Duration::from_millis(time.and_utc().timestamp_millis().try_into().ok()?),
            client: client(column("c-ip")?, program),
            method: column("cs-method")?.to_owned(),
            url,
            status: column("sc-status")?.parse().ok()?,
            bytes: column("sc-bytes").and_then(|b| b.parse().ok()).unwrap_or(0),
            user: column("cs-username").is_some(),
        })
    }
}
