// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Rate and queueing delay of the last minute, drawn for a terminal: the newest at the right.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use serde::Serialize;

use crate::traffic::{bits, milliseconds, Row};

/// A column a second.
const COLUMNS: usize = 60;
const ROWS: usize = 6;
/// Eighths of a character.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const LABEL: usize = 9;
/// The least that the top of a chart is.
const LEAST_BPS: f64 = 1e3;
const LEAST_US: f64 = 1e3;

/// What was seen in one interval.
#[derive(Debug, Clone, Serialize)]
struct Sample {
    connections: usize,
    /// Both directions of all of them.
    bps: u64,
    /// The longest; `None` if it is known of none.
    queue_us: Option<u32>,
}

#[derive(Debug, Serialize)]
pub struct Plot {
    interval_s: f64,
    /// The newest first.
    samples: VecDeque<Sample>,
    /// Of the last interval, if it is one connection.
    connection: Option<String>,
}

impl Plot {
    pub fn new(interval: Duration) -> Self {
        Self {
            interval_s: interval.as_secs_f64(),
            samples: VecDeque::new(),
            connection: None,
        }
    }

    pub fn add(&mut self, rows: &[Row]) {
        self.samples.push_front(Sample {
            connections: rows.len(),
            bps: rows.iter().map(|row| row.out_bps + row.in_bps).sum(),
            queue_us: rows.iter().filter_map(|row| row.queue_us).max(),
        });
        self.samples
            .truncate((COLUMNS as f64 / self.interval_s).ceil() as usize);
        self.connection = match rows {
            [one] => Some(format!("{} to {}", one.program, one.flow.peer)),
            _ => None,
        };
    }

    /// Whether there was a connection in the last minute.
    pub fn has_any(&self) -> bool {
        self.samples.iter().any(|sample| sample.connections > 0)
    }

    /// A value a column, the oldest first: the mean of the samples that end in this second, or the one that covers it.
    fn columns(&self, value: impl Fn(&Sample) -> Option<f64>) -> Vec<Option<f64>> {
        let ended = |number: usize| number as f64 * self.interval_s;
        let column = |age: usize| {
            let (begin, end) = (age as f64, age as f64 + 1.0);
            let inside = |number: &usize| (begin..end).contains(&ended(*number));
            let covers = |number: &usize| ended(*number) <= begin && ended(number + 1) > begin;
            let numbers = || 0..self.samples.len();
            let mut chosen: Vec<usize> = numbers().filter(inside).collect();
            if chosen.is_empty() {
                chosen.extend(numbers().find(covers));
            }
            crate::bars::mean(chosen.into_iter().filter_map(|number| value(&self.samples[number])))
        };
        (0..COLUMNS).rev().map(column).collect()
    }
}

impl Display for Plot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(newest) = self.samples.front() else {
            return Ok(());
        };
        match &self.connection {
            Some(connection) => writeln!(f, "{connection}")?,
            None => writeln!(f, "connections: {}", newest.connections)?,
        }
        let rates = self.columns(|sample| Some(sample.bps as f64));
        writeln!(f, "\nrate, out and in: {}", bits(newest.bps))?;
        chart(f, &rates, LEAST_BPS, |bps| bits(bps as u64))?;
        let queues = self.columns(|sample| sample.queue_us.map(f64::from));
        let now = newest.queue_us.map_or("not known".to_owned(), milliseconds);
        writeln!(f, "\nqueueing delay: {now}")?;
        chart(f, &queues, LEAST_US, |us| milliseconds(us as u32))?;
        writeln!(f, "{:LABEL$}  {:<width$}now", "", "1 min ago", width = COLUMNS - 3)
    }
}

/// Columns from 0 to a round number that is at least the largest.
fn chart(f: &mut Formatter<'_>, values: &[Option<f64>], least: f64, label: impl Fn(f64) -> String) -> fmt::Result {
    let top = round(values.iter().flatten().fold(least, |most, value| most.max(*value)));
    for row in (0..ROWS).rev() {
        let label = match row {
            _ if row == ROWS - 1 => label(top),
            0 => "0".to_owned(),
            _ => String::new(),
        };
        let line: String = values
            .iter()
            .map(|value| cell(value.unwrap_or(0.0) / top, row))
            .collect();
        writeln!(f, "{label:>LABEL$} │{}", line.trim_end())?;
    }
    Ok(())
}

/// What a column of such a height, as a share of the chart's, has in a row.
fn cell(share: f64, row: usize) -> char {
    let eighths = (share * (ROWS * 8) as f64).ceil() as usize;
    EIGHTHS[eighths.saturating_sub(row * 8).min(8)]
}

/// 1, 2 or 5 times a power of ten.
fn round(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= value).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(interval: f64, samples: &[(u64, Option<u32>)]) -> Plot {
        let mut plot = Plot::new(Duration::from_secs_f64(interval));
        for (bps, queue_us) in samples {
            plot.samples.push_front(Sample {
                connections: 1,
                bps: *bps,
                queue_us: *queue_us,
            });
        }
        plot
    }

    #[test]
    fn the_newest_is_at_the_right() {
        let columns = plot(1.0, &[(1, None), (2, None), (3, None)]).columns(|sample| Some(sample.bps as f64));
        assert_eq!(columns.len(), COLUMNS);
        assert_eq!(columns[COLUMNS - 4..], [None, Some(1.0), Some(2.0), Some(3.0)]);
    }

    #[test]
    fn an_interval_of_any_length_fills_its_seconds() {
        let rate = |sample: &Sample| Some(sample.bps as f64);
        let slow = plot(2.0, &[(1, None), (3, None)]).columns(rate);
        assert_eq!(slow[COLUMNS - 4..], [Some(1.0), Some(1.0), Some(3.0), Some(3.0)]);
        let fast = plot(0.5, &[(1, None), (3, None), (5, None), (7, None)]).columns(rate);
        assert_eq!(fast[COLUMNS - 2..], [Some(2.0), Some(6.0)]);
    }

    #[test]
    fn a_minute_is_kept() {
        let mut plot = Plot::new(Duration::from_secs(1));
        (0..100).for_each(|_| plot.add(&[]));
        assert_eq!(plot.samples.len(), COLUMNS);
        assert!(!plot.has_any());
    }

    #[test]
    fn two_charts_fit_a_terminal() {
        let text = plot(1.0, &[(8_000_000, Some(12_000)), (10_000_000, None)]).to_string();
        assert!(
            text.contains("rate, out and in: 10.0Mb/s") && text.contains(" 10.0Mb/s │"),
            "{text}"
        );
        assert!(
            text.contains("queueing delay: not known") && text.contains("20.0ms │"),
            "{text}"
        );
        assert!(text.lines().count() <= 24, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.matches('█').count(), 4 + 6 + 3, "{text}");
    }

    #[test]
    fn scales_are_round() {
        for (value, top) in [(1.0, 1.0), (1.1, 2.0), (3e6, 5e6), (5.1e6, 10e6), (999.0, 1000.0)] {
            assert_eq!(round(value), top, "{value}");
        }
    }
}
