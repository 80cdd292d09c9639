// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What all measurements together say of each action.

use std::collections::BTreeMap;

use crate::action::{Action, Direction};
use crate::results::Measurement;
use crate::statistics::{ratio, Estimate, Sample};

/// One action in one direction.
#[derive(Debug, Clone)]
pub struct Row {
    pub direction: Direction,
    pub action: Action,
    /// Mbit/s of the primary.
    pub primary: Sample,
    /// Mbit/s of all others together.
    pub beside: Sample,
    /// The primary beside others, as a share of the same primary alone.
    pub kept: Option<Estimate>,
    /// What a transfer alone finds, as a share of what the foreground does.
    pub found: Option<Estimate>,
    /// Medians, in milliseconds.
    pub ping_p95: Option<f64>,
    pub call_p95: Option<f64>,
    /// Of the call's datagrams.
    pub call_lost: Option<f64>,
}

/// All actions, in the order in which they were first measured.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    pub rows: Vec<Row>,
}

impl Summary {
    #[must_use]
    pub fn of(measurements: &[Measurement]) -> Self {
        let mut groups: BTreeMap<(Direction, usize), Vec<&Measurement>> = BTreeMap::new();
        let mut order: Vec<&Action> = Vec::new();
        for measurement in measurements {
            let place = order.iter().position(|action| **action == measurement.action);
            let place = place.unwrap_or_else(|| {
                order.push(&measurement.action);
                order.len() - 1
            });
            groups
                .entry((measurement.direction, place))
                .or_default()
                .push(measurement);
        }
        let mut rows: Vec<Row> = groups.values().filter_map(|group| row(group)).collect();
        rows.sort_by_key(|row| (row.direction, row.action.beside.is_some()));
        for index in 0..rows.len() {
            (rows[index].kept, rows[index].found) = shares(&rows, &rows[index]);
        }
        Self { rows }
    }

    /// Half the width of the least sure share, and how many measurements the fewest have.
    #[must_use]
    pub fn confidence(&self) -> Option<(f64, usize)> {
        let shares: Vec<_> = self
            .rows
            .iter()
            .flat_map(|row| [row.kept, row.found])
            .flatten()
            .collect();
        let halves: Option<Vec<f64>> = shares.iter().map(|share| share.half).collect();
        let fewest = self.rows.iter().map(|row| row.primary.count).min()?;
        let least_sure = halves?.into_iter().fold(f64::NAN, f64::max);
        (!least_sure.is_nan()).then_some((least_sure, fewest))
    }
}

fn row(group: &[&Measurement]) -> Option<Row> {
    let first = group.first()?;
    let numbers = |value: &dyn Fn(&Measurement) -> f64| -> Vec<f64> { group.iter().map(|m| value(m)).collect() };
    let median = |value: &dyn Fn(&Measurement) -> Option<f64>| {
        let mut values: Vec<f64> = group.iter().filter_map(|m| value(m)).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let lost = |m: &Measurement| m.call.map(|call| (call.lost, call.sent));
    let (lost, sent) = group
        .iter()
        .filter_map(|m| lost(m))
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Some(Row {
        direction: first.direction,
        action: first.action.clone(),
        primary: Sample::of(&numbers(&Measurement::primary_mbit))?,
        beside: Sample::of(&numbers(&Measurement::beside_mbit))?,
        kept: None,
        found: None,
        ping_p95: median(&|m| m.ping.map(|ping| ping.p95_ms)),
        call_p95: median(&|m| m.call.map(|call| call.p95_ms)),
        call_lost: (sent > 0).then(|| f64::from(lost) / f64::from(sent)),
    })
}

/// The foreground is the primary that others run beside; if there is none, the first.
fn shares(rows: &[Row], row: &Row) -> (Option<Estimate>, Option<Estimate>) {
    let same = || rows.iter().filter(|other| other.direction == row.direction);
    let alone = |primary| same().find(|other| other.action.beside.is_none() && other.action.primary == primary);
    if row.action.beside.is_some() {
        let kept = alone(row.action.primary.clone()).and_then(|alone| ratio(&row.primary, &alone.primary));
        return (kept, None);
    }
    let foreground = same()
        .find(|other| other.action.beside.is_some())
        .or_else(|| same().next());
    let foreground = foreground.map(|row| row.action.primary.clone());
    let found = foreground
        .filter(|foreground| *foreground != row.action.primary)
        .and_then(alone)
        .and_then(|alone| ratio(&row.primary, &alone.primary));
    (None, found)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::results::Latency;

    /// A measurement of so many Mbit/s, beside others of so many.
    pub fn measured(action: &str, direction: Direction, primary: f64, beside: f64) -> Measurement {
        Measurement {
            at: "2026-05-11T12:00:00+02:00".parse().expect("a time"),
            elapsed_s: 0.0,
            action: action.parse().expect("an action"),
            direction,
            bytes: (primary * 1e6 / 8.0 * 10.0) as u64,
            seconds: 10.0,
            beside_bytes: (beside * 1e6 / 8.0 * 10.0) as u64,
            cut: false,
            ended: 0,
            ping: None,
            call: None,
            clock_jump_s: None,
        }
    }

    #[test]
    fn delays_are_medians_in_whatever_order_they_were_measured() {
        let measurements: Vec<_> = [30.0, 10.0, 20.0, 50.0, 40.0]
            .map(|p95_ms| {
                let mut one = measured("reno/none", Direction::Up, 10.0, 0.0);
                one.ping = Some(Latency {
                    sent: 1,
                    lost: 0,
                    p50_ms: p95_ms,
                    p95_ms,
                    max_ms: p95_ms,
                });
                one
            })
            .into();
        assert_eq!(Summary::of(&measurements).rows[0].ping_p95, Some(30.0));
    }

    #[test]
    fn shares_are_of_the_same_primary_alone() {
        let mut measurements = Vec::new();
        for wobble in [-0.1, 0.0, 0.1] {
            for (action, primary, beside) in [
                ("reno/none", 10.0, 0.0),
                ("netnice/none", 8.0, 0.0),
                ("reno/netnice8", 9.5, 0.4),
                ("reno/reno", 5.0, 5.0),
            ] {
                measurements.push(measured(action, Direction::Up, primary + wobble, beside));
            }
        }
        let summary = Summary::of(&measurements);
        let of = |action: &str| {
            summary
                .rows
                .iter()
                .find(|row| row.action.to_string() == action)
                .expect("a row")
        };
        assert!((of("netnice/none").found.expect("found").value - 0.8).abs() < 1e-6);
        assert!((of("reno/netnice8").kept.expect("kept").value - 0.95).abs() < 1e-6);
        assert!((of("reno/reno").kept.expect("kept").value - 0.5).abs() < 1e-6);
        assert_eq!((of("reno/none").kept, of("reno/none").found), (None, None));
        let (half, fewest) = summary.confidence().expect("enough");
        assert_eq!(fewest, 3);
        assert!(half > 0.01 && half < 0.1, "{half}");
    }

    #[test]
    fn too_few_are_no_confidence() {
        let measurements = [
            measured("reno/none", Direction::Up, 10.0, 0.0),
            measured("reno/lp", Direction::Up, 9.0, 0.0),
        ];
        assert_eq!(Summary::of(&measurements).confidence(), None);
    }

    #[test]
    fn directions_are_apart() {
        let measurements = [
            measured("reno/none", Direction::Up, 10.0, 0.0),
            measured("reno/tide", Direction::Down, 9.0, 0.0),
        ];
        assert!(Summary::of(&measurements).rows[1].kept.is_none());
    }
}
