// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the server gives at most, whatever it is asked for.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use netnice_units::{Rate, Size, Time};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A bucket this long lets a slice of time pass without loss of rate.
const BURST: Duration = Duration::from_millis(20);

/// The server's own configuration.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Of all transfers together, both ways; `None`: whatever the path carries.
    pub rate: Option<Rate>,
    /// Of one transfer.
    pub transfer: Size,
    /// Of one transfer.
    pub time: Time,
    /// Of all transfers in 24 hours, from the server's start.
    pub daily: Size,
    /// Transfers and sessions at the same time.
    pub connections: usize,
}

/// What is left of the limits now.
#[derive(Debug)]
pub struct Ledger {
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    day: Instant,
    spent: u64,
    /// When the last byte granted will have been carried.
    free: Instant,
}

impl Ledger {
    #[must_use]
    pub fn new(limits: Limits, now: Instant) -> Self {
        let state = State {
            day: now,
            spent: 0,
            free: now,
        };
        Self {
            limits,
            state: Mutex::new(state),
        }
    }

    /// What a transfer gets of what it asks for; `None` if today's bytes are gone.
    #[must_use]
    pub fn grant(&self, bytes: u64, seconds: f64, now: Instant) -> Option<(u64, f64)> {
        let left = self
            .limits
            .daily
            .bytes()
            .saturating_sub(self.today(now).spent);
        let bytes = bytes.min(self.limits.transfer.bytes()).min(left);
        let most = self.limits.time.as_secs_f64();
        // NaN is less than nothing here, and ends at once.
        let seconds = if seconds > 0.0 {
            seconds.min(most)
        } else {
            0.0
        };
        (left > 0).then_some((bytes, seconds))
    }

    /// Sets aside what today has left of `bytes`, so that transfers at the same time do not both move its last; 0: all is gone.
    #[must_use]
    pub fn reserve(&self, bytes: u64, now: Instant) -> u64 {
        let mut state = self.today(now);
        let reserved = bytes.min(self.limits.daily.bytes().saturating_sub(state.spent));
        state.spent += reserved;
        reserved
    }

    /// Of what was set aside so much was moved. Says how long to wait before more.
    #[must_use]
    pub fn spend(&self, reserved: u64, moved: u64, now: Instant) -> Duration {
        let mut state = self.today(now);
        state.spent = state.spent.saturating_sub(reserved - moved);
        let Some(rate) = self.limits.rate else {
            return Duration::ZERO;
        };
        let carried = Duration::from_secs_f64(moved as f64 * 8.0 / rate.bits() as f64);
        let idle = now.checked_sub(BURST).unwrap_or(now);
        state.free = state.free.max(idle) + carried;
        state.free.saturating_duration_since(now)
    }

    fn today(&self, now: Instant) -> std::sync::MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(state.day) >= DAY {
            (state.day, state.spent) = (now, 0);
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(now: Instant) -> Ledger {
        let limits = Limits {
            rate: Rate::from_bits(8_000_000),
            transfer: Size(1_000_000),
            time: Time::from_secs(60),
            daily: Size(1_500_000),
            connections: 1,
        };
        Ledger::new(limits, now)
    }

    #[test]
    fn nobody_gets_more_than_the_configuration() {
        let now = Instant::now();
        let ledger = ledger(now);
        assert_eq!(
            ledger.grant(u64::MAX, f64::INFINITY, now),
            Some((1_000_000, 60.0))
        );
        assert_eq!(ledger.grant(10, f64::NAN, now), Some((10, 0.0)));
        assert_eq!(ledger.grant(10, -1.0, now), Some((10, 0.0)));
    }

    #[test]
    fn a_day_has_so_many_bytes_and_the_next_again() {
        let now = Instant::now();
        let ledger = ledger(now);
        assert_eq!(ledger.reserve(1_400_000, now), 1_400_000);
        assert_eq!(ledger.grant(u64::MAX, 1.0, now), Some((100_000, 1.0)));
        assert_eq!(ledger.reserve(100_001, now), 100_000);
        assert_eq!(ledger.grant(1, 1.0, now), None);
        assert!(ledger.grant(1, 1.0, now + DAY).is_some());
    }

    #[test]
    fn transfers_at_the_same_time_share_the_last_bytes() {
        let now = Instant::now();
        let ledger = ledger(now);
        assert_eq!(ledger.reserve(1_450_000, now), 1_450_000);
        assert_eq!(ledger.reserve(40_000, now), 40_000);
        assert_eq!(ledger.reserve(40_000, now), 10_000);
        assert_eq!(ledger.reserve(40_000, now), 0);
        let _ = ledger.spend(40_000, 15_000, now);
        assert_eq!(ledger.reserve(40_000, now), 25_000);
    }

    #[test]
    fn all_together_keep_the_rate() {
        let now = Instant::now();
        let ledger = ledger(now);
        let now = now + Duration::from_secs(1);
        let waits: Vec<_> = (0..10).map(|_| ledger.spend(10_000, 10_000, now)).collect();
        assert_eq!(waits[0], Duration::ZERO);
        assert_eq!(waits[9], Duration::from_millis(100) - BURST);
    }
}
