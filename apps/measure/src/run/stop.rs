// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! When it is enough, and what is left until then.

use std::time::Duration;

use netnice_units::{Share, Size, Time};

use crate::results::{Measurement, Record};
use crate::summary::Summary;

/// Fewer measurements of an action say nothing, however much they agree.
const FEWEST: usize = 5;

/// Whichever comes first; none: until somebody stops it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stop {
    pub time: Option<Time>,
    pub bytes: Option<Size>,
    pub confidence: Option<Share>,
}

/// How far it is, restarts included.
#[derive(Debug, Default)]
pub struct Progress {
    pub measurements: Vec<Measurement>,
    /// Of earlier runs.
    pub before: Duration,
    pub bytes: u64,
}

impl Progress {
    /// Where an earlier run ended.
    #[must_use]
    pub fn resumed(records: Vec<Record>) -> Self {
        let before = records
            .iter()
            .filter_map(Record::elapsed_s)
            .fold(0.0, f64::max);
        let before = Duration::try_from_secs_f64(before).unwrap_or_default();
        let mut progress = Self {
            before,
            ..Self::default()
        };
        for record in records {
            if let Record::Measurement(measurement) = record {
                progress.add(measurement);
            }
        }
        progress
    }

    pub fn add(&mut self, measurement: Measurement) {
        self.bytes += measurement.bytes + measurement.beside_bytes;
        self.measurements.push(measurement);
    }
}

impl Stop {
    /// Why it is enough, if it is.
    #[must_use]
    pub fn reached(&self, progress: &Progress, elapsed: Duration) -> Option<String> {
        if let Some(time) = self.time.filter(|time| elapsed >= (*time).into()) {
            return Some(format!("{time} are over"));
        }
        if let Some(bytes) = self.bytes.filter(|bytes| progress.bytes >= bytes.bytes()) {
            return Some(format!("{bytes} are moved"));
        }
        let wanted = self.confidence?;
        let (half, fewest) = Summary::of(&progress.measurements).confidence()?;
        (fewest >= FEWEST && half <= wanted.to_f64())
            .then(|| format!("every share is known to {wanted}"))
    }

    /// What is left, as far as it can be told.
    #[must_use]
    pub fn left(&self, progress: &Progress, elapsed: Duration) -> String {
        let mut left = Vec::new();
        if let Some(time) = self.time {
            let rest = Duration::from(time).saturating_sub(elapsed);
            left.push(format!("{} left", human(rest)));
        }
        if let Some(bytes) = self.bytes {
            let rest = bytes.bytes().saturating_sub(progress.bytes) as f64;
            left.push(format!("{:.0} MB left", rest / 1e6));
        }
        if let Some(wanted) = self.confidence {
            left.push(match Summary::of(&progress.measurements).confidence() {
                None => "too few for an interval yet".into(),
                Some((half, _)) => {
                    // An interval narrows with the root of the number.
                    let factor = (half / wanted.to_f64()).powi(2).max(1.0) - 1.0;
                    let more = (progress.measurements.len() as f64 * factor).ceil();
                    format!(
                        "known to {:.1}%, about {more:.0} more to {wanted}",
                        half * 100.0
                    )
                }
            });
        }
        if left.is_empty() {
            "until you stop it".into()
        } else {
            left.join(", ")
        }
    }
}

fn human(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Direction;
    use crate::summary::tests::measured;

    fn progress(count: usize, spread: f64) -> Progress {
        let mut progress = Progress::default();
        for n in 0..count {
            let wobble = if n % 2 == 0 { spread } else { -spread };
            progress.add(measured("reno/none", Direction::Up, 10.0 + wobble, 0.0));
            progress.add(measured("reno/netnice", Direction::Up, 10.0 - wobble, 0.0));
        }
        progress
    }

    #[test]
    fn by_time_bytes_or_confidence() {
        let hour = Duration::from_secs(3600);
        let stop = Stop {
            time: Some(Time::from_secs(3600)),
            ..Stop::default()
        };
        assert_eq!(stop.reached(&progress(1, 0.0), hour / 2), None);
        assert_eq!(stop.left(&progress(1, 0.0), hour / 2), "30 min left");
        assert_eq!(
            stop.reached(&progress(1, 0.0), hour).as_deref(),
            Some("1h are over")
        );

        let stop = Stop {
            bytes: Some(Size(50_000_000)),
            ..Stop::default()
        };
        assert_eq!(stop.reached(&progress(1, 0.0), hour), None);
        assert_eq!(stop.left(&progress(1, 0.0), hour), "25 MB left");
        assert!(stop.reached(&progress(2, 0.0), hour).is_some());

        let confidence = Some("2%".parse().expect("a share"));
        let stop = Stop {
            confidence,
            ..Stop::default()
        };
        assert_eq!(stop.reached(&progress(4, 0.0), hour), None, "too few");
        assert_eq!(stop.reached(&progress(6, 1.0), hour), None, "too unlike");
        assert!(stop.reached(&progress(6, 0.01), hour).is_some());
        assert_eq!(Stop::default().reached(&progress(6, 0.0), hour), None);
    }

    #[test]
    fn a_restart_goes_on_where_it_was() {
        let mut last = measured("reno/none", Direction::Up, 10.0, 1.0);
        last.elapsed_s = 100.0;
        let resumed = Progress::resumed(vec![Record::Measurement(last)]);
        assert_eq!(resumed.before, Duration::from_secs(100));
        assert_eq!(resumed.bytes, 12_500_000 + 1_250_000);
    }
}
