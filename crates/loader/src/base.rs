// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Base RTT of connections that are looked at again and again: the queueing delay is the RTT less that.
//!
//! The kernel keeps the least RTT of five minutes. A sender of netnice makes it wrong after a busy phase: segments that
//! leave before a pacing deadline are stamped with the deadline (`algorithms/pacing/pace.h`). A path of 40 ms then has a
//! base of some 4 ms, and a queue that is not there. So a fall to under half of the base is believed only when the RTT has
//! stayed below that base for three seconds.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::sockets::{is_doubtful, Flow};

/// How long the RTT agrees with a much smaller base before that is believed.
const AGREED: Duration = Duration::from_secs(3);
/// What one look counts for, at most: between two looks the RTT may have been anything.
const MOST_STEP: Duration = Duration::from_secs(1);

/// Of one connection.
#[derive(Debug)]
struct Base {
    /// Microseconds; `None`: the kernel's is in doubt since the first look.
    us: Option<u32>,
    rtt_us: u32,
    last: Instant,
    /// For how long the RTT has agreed with a kernel's base that is not believed yet.
    agreed: Duration,
}

impl Base {
    fn first(kernel_us: u32, rtt_us: u32, now: Instant) -> Self {
        Self {
            us: (!is_doubtful(kernel_us, rtt_us)).then_some(kernel_us),
            rtt_us,
            last: now,
            agreed: Duration::ZERO,
        }
    }

    fn look(&mut self, kernel_us: u32, rtt_us: u32, now: Instant) {
        let step = now.duration_since(self.last).min(MOST_STEP);
        let is_measured_anew = rtt_us != self.rtt_us;
        (self.last, self.rtt_us) = (now, rtt_us);
        let agrees = match self.us {
            Some(base) if kernel_us >= base / 2 => {
                (self.us, self.agreed) = (Some(kernel_us), Duration::ZERO);
                return;
            }
            Some(base) => rtt_us < base,
            None => !is_doubtful(kernel_us, rtt_us),
        };
        match agrees {
            true if is_measured_anew => self.agreed += step,
            true => (), // an idle connection keeps its last RTT
            false => self.agreed = Duration::ZERO,
        }
        if self.agreed >= AGREED {
            (self.us, self.agreed) = (Some(kernel_us), Duration::ZERO);
        }
    }
}

/// Of all connections of the last look.
#[derive(Debug, Default)]
pub struct Bases(HashMap<(SocketAddr, SocketAddr, u32), Base>);

impl Bases {
    /// Gives each connection the base that is believed. Connections that are not among these are forgotten.
    pub fn apply(&mut self, flows: &mut [Flow], now: Instant) {
        let mut before = std::mem::take(&mut self.0);
        for flow in flows
            .iter_mut()
            .filter(|flow| flow.base_us > 0 && flow.level().is_some())
        {
            let key = (flow.local, flow.peer, flow.inode);
            let base = match before.remove(&key) {
                Some(mut base) => {
                    base.look(flow.base_us, flow.rtt_us, now);
                    base
                }
                None => Base::first(flow.base_us, flow.rtt_us, now),
            };
            flow.base_us = base.us.unwrap_or(flow.base_us);
            flow.base_is_doubtful = base.us.is_none();
            self.0.insert(key, base);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A look each second, of a base and an RTT in ms: what is believed then, 0 for nothing.
    fn believed(looks: &[(u32, u32)]) -> Vec<u32> {
        let start = Instant::now();
        let mut base: Option<Base> = None;
        let look = |(second, (kernel, rtt)): (u64, &(u32, u32))| {
            let now = start + Duration::from_secs(second);
            let (kernel, rtt) = (kernel * 1000, rtt * 1000 + second as u32); // each RTT is a new one
            match &mut base {
                Some(base) => base.look(kernel, rtt, now),
                None => base = Some(Base::first(kernel, rtt, now)),
            }
            base.as_ref().and_then(|base| base.us).unwrap_or_default() / 1000
        };
        (0..).zip(looks).map(look).collect()
    }

    #[test]
    fn a_much_smaller_base_is_believed_once_the_rtt_agrees_for_long() {
        for (what, looks, expected) in [
            (
                "as the kernel has it",
                &[(40, 50), (38, 90), (41, 42)][..],
                &[40, 38, 41][..],
            ),
            (
                "stamps of a deadline",
                &[(40, 41), (4, 45), (4, 46), (4, 44), (42, 43)],
                &[40, 40, 40, 40, 42],
            ),
            (
                "a moment of a wrong RTT",
                &[(40, 41), (4, 9), (4, 30), (4, 42), (4, 41)],
                &[40; 5],
            ),
            (
                "a shorter route",
                &[(40, 41), (10, 12), (10, 13), (10, 12)],
                &[40, 40, 40, 10],
            ),
            ("a longer route", &[(40, 41), (60, 70)], &[40, 60]),
            (
                "in doubt from the first look",
                &[(4, 42), (4, 43), (42, 43), (42, 43), (42, 43)],
                &[0, 0, 0, 0, 42],
            ),
            (
                "a long queue that was true",
                &[(4, 42), (4, 20), (4, 10), (4, 5)],
                &[0, 0, 0, 4],
            ),
        ] {
            assert_eq!(believed(looks), expected, "{what}");
        }
    }

    #[test]
    fn an_idle_connection_agrees_with_nothing() {
        let start = Instant::now();
        let mut base = Base::first(40_000, 41_000, start);
        for second in 1..60 {
            base.look(4_000, 9_000, start + Duration::from_secs(second));
        }
        assert_eq!(base.us, Some(40_000), "its last RTT was a moment's");
    }
}
