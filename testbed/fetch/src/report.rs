// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What came out: one record a document, and figures over those of the measured window.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

use crate::demand::Demand;

/// One document's fate.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    pub client: u32,
    /// When the client wanted it, microseconds after the start of the run.
    pub scheduled_us: u64,
    /// How much later than wanted the connection was begun: the machine's lateness.
    pub start_late_us: Option<u64>,
    pub bytes: u64,
    /// From the moment it was wanted to its last byte; absent while unfinished or failed.
    pub latency_us: Option<u64>,
    pub error: Option<String>,
    /// Wanted inside the measured window.
    pub measured: bool,
}

/// Figures over the documents wanted in the measured window.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    pub documents: usize,
    pub finished: usize,
    /// Still under way when the grace after the window had passed.
    pub unfinished: usize,
    pub failed: usize,
    pub mean_us: f64,
    pub geometric_mean_us: f64,
    pub median_us: u64,
    pub p90_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
    pub bytes_finished: u64,
    pub offered_bps: f64,
    /// Document bits that arrived inside the window, whichever document they belong to.
    pub goodput_bps: f64,
    pub start_late_p99_us: u64,
}

/// Bytes that arrived in each step of the run, warm-up and grace included.
#[derive(Debug, Serialize)]
pub struct Timeline {
    pub step_ms: u64,
    pub bytes: Vec<u64>,
}

/// The whole result, as written by `--output`.
#[derive(Debug, Serialize)]
pub struct Report {
    pub demand: Demand,
    pub mean_document_bytes: f64,
    pub warmup_s: f64,
    pub seconds: f64,
    /// CLOCK_MONOTONIC at the start of the run, to align with other traces.
    pub started_monotonic_us: u64,
    pub client_congestion_control: String,
    pub summary: Summary,
    pub timeline: Timeline,
    pub documents: Vec<Document>,
}

impl Summary {
    /// Figures of the measured documents; `window_bytes` arrived within `seconds`.
    pub fn of(documents: &[Document], window_bytes: u64, seconds: f64) -> Self {
        let measured = || documents.iter().filter(|d| d.measured);
        let mut latencies: Vec<u64> = measured().filter_map(|d| d.latency_us).collect();
        latencies.sort_unstable();
        let mut late: Vec<u64> = measured().filter_map(|d| d.start_late_us).collect();
        late.sort_unstable();
        let n = latencies.len().max(1) as f64;
        let failed = measured().filter(|d| d.error.is_some()).count();
        let offered: u64 = measured().map(|d| d.bytes).sum();
        Summary {
            documents: measured().count(),
            finished: latencies.len(),
            unfinished: measured().count() - latencies.len() - failed,
            failed,
            mean_us: latencies.iter().sum::<u64>() as f64 / n,
            geometric_mean_us: (latencies.iter().map(|l| (*l as f64).ln()).sum::<f64>() / n).exp(),
            median_us: percentile(&latencies, 50.0),
            p90_us: percentile(&latencies, 90.0),
            p99_us: percentile(&latencies, 99.0),
            max_us: latencies.last().copied().unwrap_or(0),
            bytes_finished: measured().filter(|d| d.latency_us.is_some()).map(|d| d.bytes).sum(),
            offered_bps: offered as f64 * 8.0 / seconds,
            goodput_bps: window_bytes as f64 * 8.0 / seconds,
            start_late_p99_us: percentile(&late, 99.0),
        }
    }
}

/// The smallest value that at least `p` per cent of the sorted values do not exceed.
fn percentile(sorted: &[u64], p: f64) -> u64 {
    let rank = (p / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).or(sorted.last()).copied().unwrap_or(0)
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |us: f64| us / 1000.0;
        writeln!(
            f,
            "documents {} (finished {}, unfinished {}, failed {}), {} bytes",
            self.documents, self.finished, self.unfinished, self.failed, self.bytes_finished
        )?;
        writeln!(
            f,
            "latency ms: mean {:.1}  median {:.1}  p90 {:.1}  p99 {:.1}  max {:.1}",
            ms(self.mean_us),
            ms(self.median_us as f64),
            ms(self.p90_us as f64),
            ms(self.p99_us as f64),
            ms(self.max_us as f64)
        )?;
        write!(
            f,
            "offered {:.2} Mbit/s, carried {:.2} Mbit/s",
            self.offered_bps / 1e6,
            self.goodput_bps / 1e6
        )
    }
}

/// One line a document, for spreadsheets.
/// When the file cannot be written.
pub fn write_csv(documents: &[Document], mut out: impl Write) -> io::Result<()> {
    writeln!(out, "client,scheduled_us,start_late_us,bytes,latency_us,measured,error")?;
    let field = |v: Option<u64>| v.map_or(String::new(), |v| v.to_string());
    for d in documents {
        let error = d.error.as_deref().unwrap_or("").replace('"', "'");
        writeln!(
            out,
            "{},{},{},{},{},{},\"{}\"",
            d.client,
            d.scheduled_us,
            field(d.start_late_us),
            d.bytes,
            field(d.latency_us),
            d.measured,
            error
        )?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(latency_us: Option<u64>, error: Option<&str>, measured: bool) -> Document {
        Document {
            client: 0,
            scheduled_us: 0,
            start_late_us: Some(10),
            bytes: 1000,
            latency_us,
            error: error.map(str::to_owned),
            measured,
        }
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values: Vec<u64> = (1..=200).collect();
        assert_eq!(percentile(&values, 50.0), 100);
        assert_eq!(percentile(&values, 99.0), 198);
        assert_eq!(percentile(&values, 100.0), 200);
        assert_eq!(percentile(&[], 99.0), 0);
        assert_eq!(percentile(&[7], 1.0), 7);
    }

    #[test]
    fn only_the_window_counts_and_nothing_is_lost() {
        let documents = [
            document(Some(100), None, true),
            document(Some(300), None, true),
            document(None, None, true),
            document(None, Some("refused"), true),
            document(Some(9_999_999), None, false),
        ];
        let s = Summary::of(&documents, 5000, 2.0);
        assert_eq!((s.documents, s.finished, s.unfinished, s.failed), (4, 2, 1, 1));
        assert_eq!((s.mean_us, s.median_us, s.max_us), (200.0, 100, 300));
        assert_eq!(s.offered_bps, 16_000.0);
        assert_eq!(s.goodput_bps, 20_000.0);
    }

    #[test]
    fn csv_has_a_line_a_document() {
        let mut out = Vec::new();
        write_csv(&[document(None, Some("a \"b\""), true)], &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.ends_with("0,0,10,1000,,true,\"a 'b'\"\n"), "{text}");
    }
}
