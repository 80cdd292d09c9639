// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! When a run goes on: the clock, the size of a transfer, and whether it is enough.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, FixedOffset, Local};
use netnice_units::{Share, Size, Time};
use nix::time::{clock_gettime, ClockId};

use crate::action::Direction;
use crate::results::{Measurement, Record};
use crate::summary::Summary;

/// Fewer measurements of an action say nothing, however much they agree.
const FEWEST: usize = 5;

/// Whichever comes first; none: until it is stopped.
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
        let before = records.iter().filter_map(Record::elapsed_s).fold(0.0, f64::max);
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
    pub fn reason(&self, progress: &Progress, elapsed: Duration) -> Option<String> {
        if let Some(time) = self.time.filter(|time| elapsed >= (*time).into()) {
            return Some(format!("{time} are over"));
        }
        if let Some(bytes) = self.bytes.filter(|bytes| progress.bytes >= bytes.bytes()) {
            return Some(format!("{bytes} are moved"));
        }
        let wanted = self.confidence?;
        let (half, fewest) = Summary::of(&progress.measurements).confidence()?;
        (fewest >= FEWEST && half <= wanted.to_f64()).then(|| format!("every share is known to {wanted}"))
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
                    format!("known to {:.1}%, about {more:.0} more to {wanted}", half * 100.0)
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

/// Less is how a clock is kept right, not a jump.
const JUMP: f64 = 2.0;

/// Both, at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub wall: DateTime<FixedOffset>,
    /// Since boot, sleep included.
    pub steady: Duration,
}

impl Reading {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        let steady = clock_gettime(ClockId::CLOCK_BOOTTIME).map(Duration::from);
        Self {
            wall: Local::now().fixed_offset(),
            steady: steady.unwrap_or_default(),
        }
    }

    /// Seconds by which the wall clock has jumped since `before`, if it has.
    #[must_use]
    pub fn jumped(&self, before: &Self) -> Option<f64> {
        let wall = (self.wall - before.wall).num_milliseconds() as f64 / 1e3;
        let steady = self.steady.as_secs_f64() - before.steady.as_secs_f64();
        let jump = wall - steady;
        (jump.abs() >= JUMP).then(|| (jump * 1e3).round() / 1e3)
    }
}

/// What the last one says counts so much.
const NEWEST: f64 = 0.3;
/// Fewer bytes are gone before a connection has found its rate.
const LEAST: u64 = 32 * 1024;

/// The path's rate alone, in each direction, as far as it is known.
#[derive(Debug, Default)]
pub struct Sizing(HashMap<Direction, f64>);

impl Sizing {
    /// Learns from a transfer that ran alone; others say nothing here.
    pub fn learn(&mut self, measurement: &Measurement) {
        if measurement.action.beside.is_none() {
            self.saw(measurement.direction, measurement.bytes, measurement.seconds);
        }
    }

    /// Learns from so many bytes in so many seconds. Of two congestion controls the faster counts.
    pub fn saw(&mut self, direction: Direction, bytes: u64, seconds: f64) {
        let rate = bytes as f64 / seconds.max(1e-6);
        let known = self.0.entry(direction).or_insert(rate);
        *known = rate.max(*known * (1.0 - NEWEST) + rate * NEWEST);
    }

    /// Bytes for `length` of the path; `None` until something was seen.
    #[must_use]
    pub fn bytes(&self, direction: Direction, length: Duration) -> Option<u64> {
        let rate = self.0.get(&direction)?;
        Some(((rate * length.as_secs_f64()) as u64).max(LEAST))
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
        assert_eq!(stop.reason(&progress(1, 0.0), hour / 2), None);
        assert_eq!(stop.left(&progress(1, 0.0), hour / 2), "30 min left");
        assert_eq!(stop.reason(&progress(1, 0.0), hour).as_deref(), Some("1h are over"));

        let stop = Stop {
            bytes: Some(Size(50_000_000)),
            ..Stop::default()
        };
        assert_eq!(stop.reason(&progress(1, 0.0), hour), None);
        assert_eq!(stop.left(&progress(1, 0.0), hour), "25 MB left");
        assert!(stop.reason(&progress(2, 0.0), hour).is_some());

        let confidence = Some("2%".parse().expect("a share"));
        let stop = Stop {
            confidence,
            ..Stop::default()
        };
        assert_eq!(stop.reason(&progress(4, 0.0), hour), None, "too few");
        assert_eq!(stop.reason(&progress(6, 1.0), hour), None, "too unlike");
        assert!(stop.reason(&progress(6, 0.01), hour).is_some());
        assert_eq!(Stop::default().reason(&progress(6, 0.0), hour), None);
    }

    #[test]
    fn a_restart_goes_on_where_it_was() {
        let mut last = measured("reno/none", Direction::Up, 10.0, 1.0);
        last.elapsed_s = 100.0;
        let resumed = Progress::resumed(vec![Record::Measurement(last)]);
        assert_eq!(resumed.before, Duration::from_secs(100));
        assert_eq!(resumed.bytes, 12_500_000 + 1_250_000);
    }

    #[test]
    fn a_jump_is_what_the_steady_clock_does_not_know() {
        let at = |wall: &str, steady| Reading {
            wall: wall.parse().expect("a time"),
            steady: Duration::from_secs(steady),
        };
        let before = at("2026-05-11T12:00:00+02:00", 100);
        assert_eq!(at("2026-05-11T12:10:01+02:00", 700).jumped(&before), None);
        assert_eq!(at("2026-05-11T13:10:00+02:00", 700).jumped(&before), Some(3600.0));
        assert_eq!(at("2026-05-11T11:10:00+02:00", 700).jumped(&before), Some(-3600.0));
        // Another time zone is no jump.
        assert_eq!(at("2026-05-11T11:10:00+01:00", 700).jumped(&before), None);
    }

    #[test]
    fn both_go_on() {
        let (one, two) = (Reading::now(), Reading::now());
        assert!(two.steady >= one.steady);
        assert_eq!(two.jumped(&one), None);
    }

    #[test]
    fn it_follows_the_path() {
        let mut sizing = Sizing::default();
        let ten = Duration::from_secs(10);
        assert_eq!(sizing.bytes(Direction::Up, ten), None);
        sizing.saw(Direction::Up, 1_000_000, 1.0);
        assert_eq!(sizing.bytes(Direction::Up, ten), Some(10_000_000));
        for _ in 0..30 {
            sizing.saw(Direction::Up, 100_000, 1.0);
        }
        let slower = sizing.bytes(Direction::Up, ten).expect("known");
        assert!((1_000_000..1_010_000).contains(&slower), "{slower}");
        sizing.saw(Direction::Up, 2_000_000, 1.0);
        assert_eq!(
            sizing.bytes(Direction::Up, ten),
            Some(20_000_000),
            "at once when it is faster"
        );
        assert_eq!(sizing.bytes(Direction::Down, ten), None);
    }
}
