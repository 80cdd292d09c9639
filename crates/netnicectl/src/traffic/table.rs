// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The connections as a table, and below it what units add up to.

use std::fmt::{self, Display, Formatter};

use super::{Row, Traffic};

impl Display for Traffic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.connections.is_empty() {
            return writeln!(f, "no such connections in this network namespace");
        }
        writeln!(
            f,
            "{:<5} {:>7} {:<15} {:>9} {:>9} {:>8} {:>8} {:>8} {:<9} {:<12} {:<28} UNIT",
            "LEVEL",
            "PID",
            "PROGRAM",
            "OUT",
            "IN",
            "WINDOW",
            "RTT",
            "QUEUE",
            "CONTROL",
            "STATE",
            "PEER"
        )?;
        for row in &self.connections {
            line(f, row)?;
        }
        writeln!(f, "\n{:<5} {:>9} {:>9} UNIT", "CONNS", "OUT", "IN")?;
        for (unit, sum) in &self.units {
            let (out, into) = (bits(sum.out_bps), bits(sum.in_bps));
            writeln!(f, "{:<5} {out:>9} {into:>9} {unit}", sum.connections)?;
        }
        Ok(())
    }
}

fn line(f: &mut Formatter<'_>, row: &Row) -> fmt::Result {
    let flow = &row.flow;
    let level = row.level.map_or("-".to_owned(), |level| level.to_string());
    let pid = row.pid.map_or("-".to_owned(), |pid| pid.to_string());
    writeln!(
        f,
        "{level:<5} {pid:>7} {:<15} {:>9} {:>9} {:>8} {:>8} {:>8} {:<9} {:<12} {:<28} {}",
        row.program,
        bits(row.out_bps),
        bits(row.in_bps),
        scaled(flow.window, 1024, ["B", "KiB", "MiB", "GiB"]),
        milliseconds(flow.rtt_us),
        milliseconds(row.queue_us),
        flow.congestion_control,
        flow.state,
        flow.peer.to_string(),
        row.unit
    )
}

fn bits(rate: u64) -> String {
    scaled(rate, 1000, ["bit/s", "kb/s", "Mb/s", "Gb/s"])
}

fn milliseconds(us: u32) -> String {
    format!("{:.1}ms", f64::from(us) / 1e3)
}

fn scaled(number: u64, step: u64, units: [&str; 4]) -> String {
    let mut unit = 0;
    let mut rest = number as f64;
    while rest >= step as f64 && unit + 1 < units.len() {
        rest /= step as f64;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && rest < 100.0);
    format!("{rest:.digits$}{}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units() {
        assert_eq!(bits(999), "999bit/s");
        assert_eq!(bits(1_250_000), "1.2Mb/s");
        assert_eq!(bits(123_400_000_000_000), "123400Gb/s");
        assert_eq!(milliseconds(20_149), "20.1ms");
    }

    #[test]
    fn columns_and_sums() {
        let text = super::super::tests::traffic().to_string();
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|l| l.split_whitespace().collect())
            .collect();
        assert_eq!(lines[1][..5], ["1", "7", "rsync", "8.0kb/s", "0bit/s"]);
        assert_eq!(lines[1][5..8], ["14.1KiB", "25.0ms", "5.0ms"]);
        assert_eq!(lines[3][..3], ["-", "-", "-"]);
        assert_eq!(
            lines.last().expect("sums"),
            &["2", "10.0kb/s", "0bit/s", "backup.service"]
        );
    }
}
