// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Latencies as horizontal bars of text, on one scale.

use std::fmt::{self, Display, Formatter};

/// Columns of the longest bar.
const WIDTH: usize = 24;
/// Eighths of a column.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// One latency, and what the background got meanwhile.
#[derive(Debug, Clone)]
pub struct Bar {
    pub title: &'static str,
    /// `None`: nothing came.
    pub ms: Option<f64>,
    pub background_bps: Option<f64>,
}

/// Bars below each other; × is against the first.
pub struct Bars<'a>(pub &'a [Bar]);

impl Display for Bars<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let titles = self.0.iter().map(|bar| bar.title.chars().count()).max();
        let longest = self.0.iter().filter_map(|bar| bar.ms).fold(f64::MIN_POSITIVE, f64::max);
        let first = self.0.first().and_then(|bar| bar.ms);
        for (number, bar) in self.0.iter().enumerate() {
            let drawn = bar.ms.map_or(String::new(), |ms| blocks(ms / longest));
            let ms = bar.ms.map_or("nothing came".to_owned(), milliseconds);
            let line = format!(
                "{:<width$}  {drawn:<WIDTH$}  {ms:>8}  {:<8}{}",
                bar.title,
                match (bar.ms, first) {
                    (Some(ms), Some(first)) if number > 0 => times(ms / first),
                    _ => String::new(),
                },
                bar.background_bps.map_or(String::new(), megabits),
                width = titles.unwrap_or_default(),
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// So much of the longest bar; never nothing.
fn blocks(share: f64) -> String {
    let eighths = ((share * (WIDTH * 8) as f64).round() as usize).clamp(1, WIDTH * 8);
    let mut text = "█".repeat(eighths / 8);
    if eighths % 8 > 0 {
        text.push(EIGHTHS[eighths % 8]);
    }
    text
}

/// Three digits are more than a mean is good for.
pub fn milliseconds(ms: f64) -> String {
    match ms {
        ..10.0 => format!("{ms:.1} ms"),
        _ => format!("{ms:.0} ms"),
    }
}

fn times(ratio: f64) -> String {
    match ratio {
        ..10.0 => format!("× {ratio:.1}"),
        _ => format!("× {ratio:.0}"),
    }
}

pub fn megabits(bps: f64) -> String {
    let mbps = bps / 1e6;
    match mbps {
        ..100.0 => format!("{mbps:>5.1} Mbit/s"),
        _ => format!("{mbps:>5.0} Mbit/s"),
    }
}

/// Of what there is; `None` of nothing.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values
        .into_iter()
        .fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// What one value in twenty exceeds.
pub fn p95(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * 95).div_ceil(100);
    values.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(title: &'static str, ms: impl Into<Option<f64>>, background_bps: Option<f64>) -> Bar {
        Bar {
            title,
            ms: ms.into(),
            background_bps,
        }
    }

    #[test]
    fn bars_have_one_scale_and_fit_a_terminal() {
        let bars = [
            bar("alone", 100.0, None),
            bar("beside plain uploads", 800.0, Some(9.4e6)),
            bar("beside netnice uploads", 110.0, Some(8.9e6)),
        ];
        let text = Bars(&bars).to_string();
        let lines: Vec<&str> = text.lines().collect();
        let full = |line: &str| line.matches('█').count();
        assert_eq!(
            [full(lines[0]), full(lines[1]), full(lines[2])],
            [3, WIDTH, 3],
            "{text}"
        );
        assert!(lines[1].ends_with("800 ms  × 8.0     9.4 Mbit/s"), "{text}");
        assert!(!lines[0].contains('×'), "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn without_a_latency_there_is_no_bar_and_no_ratio() {
        let bars = [bar("alone", None, None), bar("plain", 80.0, None)];
        let text = Bars(&bars).to_string();
        assert!(text.contains("nothing came") && !text.contains('×'), "{text}");
    }

    #[test]
    fn the_smallest_bar_can_be_seen() {
        assert_eq!(blocks(1e-9), "▏");
        assert_eq!(blocks(0.5).chars().count(), WIDTH / 2);
    }

    #[test]
    fn of_several_values() {
        assert_eq!(mean([]), None);
        assert_eq!(mean([1.0, 3.0]), Some(2.0));
        assert_eq!(p95([]), None);
        assert_eq!(p95([7.0]), Some(7.0));
        assert_eq!(p95((1..=20).map(f64::from)), Some(19.0));
    }
}
