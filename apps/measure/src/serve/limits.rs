// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Which clients are let in, how much is granted, and what was done.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use netnice_units::{Rate, Size, Time};
use tokio::task::AbortHandle;

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
        let left = self.limits.daily.bytes().saturating_sub(self.today(now).spent);
        let bytes = bytes.min(self.limits.transfer.bytes()).min(left);
        let most = self.limits.time.as_secs_f64();
        // NaN is less than nothing here, and ends at once.
        let seconds = if seconds > 0.0 { seconds.min(most) } else { 0.0 };
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

/// Waiting at the same time, each for a few seconds.
const MOST: usize = 512;
/// Of one IPv4 address, or one IPv6 network of 64 bits.
const MOST_OF_ONE: usize = 64;

/// Connections that have not yet proved anything.
#[derive(Debug, Default)]
pub struct Doorway {
    waiting: HashMap<u64, (IpAddr, AbortHandle)>,
    of_one: HashMap<IpAddr, usize>,
    next: u64,
}

impl Doorway {
    /// Is there room for one more of this address?
    #[must_use]
    pub fn has_room(&self, address: IpAddr) -> bool {
        self.of_one
            .get(&network(address))
            .is_none_or(|&count| count < MOST_OF_ONE)
    }

    /// The number of the next to enter.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A client waits; if that is one too many, a random one has to leave.
    pub fn enter(&mut self, number: u64, address: IpAddr, handle: AbortHandle) {
        if self.waiting.len() >= MOST {
            let unlucky = fastrand::usize(..self.waiting.len());
            if let Some(&number) = self.waiting.keys().nth(unlucky) {
                self.leave(number).inspect(AbortHandle::abort);
            }
        }
        let address = network(address);
        *self.of_one.entry(address).or_default() += 1;
        self.waiting.insert(number, (address, handle));
    }

    /// It waits no longer, for whatever reason.
    pub fn leave(&mut self, number: u64) -> Option<AbortHandle> {
        let (address, handle) = self.waiting.remove(&number)?;
        if let Some(count) = self.of_one.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.of_one.remove(&address);
            }
        }
        Some(handle)
    }
}

/// A client with one IPv6 address has 2^64 of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}

const MINUTE: Duration = Duration::from_secs(60);

/// What has been refused since it was last told.
#[derive(Debug, Default)]
pub struct Tally {
    counts: BTreeMap<&'static str, u64>,
    told: Option<Instant>,
}

impl Tally {
    /// Counts one; gives the line to be logged, at most one a minute.
    pub fn count(&mut self, why: &'static str, now: Instant) -> Option<String> {
        *self.counts.entry(why).or_default() += 1;
        if self
            .told
            .is_some_and(|told| now.saturating_duration_since(told) < MINUTE)
        {
            return None;
        }
        self.told = Some(now);
        let counts = std::mem::take(&mut self.counts);
        let each: Vec<_> = counts.iter().map(|(why, count)| format!("{count} {why}")).collect();
        Some(format!("connections refused: {}", each.join(", ")))
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
        assert_eq!(ledger.grant(u64::MAX, f64::INFINITY, now), Some((1_000_000, 60.0)));
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

    fn waiting() -> AbortHandle {
        tokio::spawn(std::future::pending::<()>()).abort_handle()
    }

    #[tokio::test]
    async fn one_address_cannot_fill_it() {
        let mut doorway = Doorway::default();
        let one: IpAddr = "2001:db8::1".parse().expect("an address");
        for _ in 0..MOST_OF_ONE {
            assert!(doorway.has_room(one));
            let number = doorway.number();
            doorway.enter(number, one, waiting());
        }
        assert!(!doorway.has_room("2001:db8::2".parse().expect("an address")));
        assert!(doorway.has_room("2001:db8:0:1::1".parse().expect("an address")));
        doorway.leave(1);
        assert!(doorway.has_room(one));
    }

    #[tokio::test]
    async fn a_full_one_lets_a_random_one_go() {
        let mut doorway = Doorway::default();
        let mut handles = Vec::new();
        for n in 0..MOST as u32 + 1 {
            let number = doorway.number();
            let handle = waiting();
            handles.push(handle.clone());
            doorway.enter(number, IpAddr::V4(n.into()), handle);
        }
        assert_eq!(doorway.waiting.len(), MOST);
        assert_eq!(doorway.of_one.len(), MOST);
        let ended = || handles.iter().filter(|handle| handle.is_finished()).count();
        while ended() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(ended(), 1);
    }

    #[test]
    fn a_flood_is_a_line_a_minute() {
        let now = Instant::now();
        let mut tally = Tally::default();
        assert_eq!(
            tally.count("another token", now).as_deref(),
            Some("connections refused: 1 another token")
        );
        let lines = (0..1000).filter_map(|_| tally.count("another protocol", now)).count();
        assert_eq!(lines, 0);
        let line = tally.count("another token", now + MINUTE);
        assert_eq!(
            line.as_deref(),
            Some("connections refused: 1000 another protocol, 1 another token")
        );
    }
}
