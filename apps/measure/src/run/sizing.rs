// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! How much to transfer, so that it takes about as long as asked on this path, alone.

use std::collections::HashMap;
use std::time::Duration;

use crate::action::Direction;
use crate::results::Measurement;

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
            self.saw(
                measurement.direction,
                measurement.bytes,
                measurement.seconds,
            );
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
