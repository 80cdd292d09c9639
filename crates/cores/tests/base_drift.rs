// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The base RTT of a flow whose own queue never empties: neither it nor the queue grows with time.

use crate::feed::{Feeder, BASE_US, LEVELS};
use netnice_cores::Algorithm;

/// The estimator's window is five minutes: from the tenth on nothing is known of an empty path by itself.
const MINUTE_US: u32 = 60_000_000;
/// A full segment's time at 12 Mbit/s, where what Vegas queues is less than the threshold, and at 1.
const USUAL_US: u32 = 1_000;
const SLOW_US: u32 = 12_000;

/// A path on which a segment takes so long; the RTT is of the window of the round before.
struct Bottleneck {
    flow: Feeder,
    us: u32,
    before: u32,
}

impl Bottleneck {
    fn of(algorithm: Algorithm, us: u32) -> Self {
        let mut flow = Feeder::fresh(algorithm, &[]);
        // what packet pairs of the first round tell
        for behind in 0..3 {
            flow.now_us += if behind == 0 { BASE_US } else { us };
            let sent = flow.delivered.wrapping_sub(1);
            let ack = flow.ack(1, sent, BASE_US + behind * us);
            flow.core.on_ack(&ack);
        }
        flow.set_window(f64::from(BASE_US) / f64::from(us) + 2.5);
        let before = flow.segments();
        Bottleneck { flow, us, before }
    }

    fn round(&mut self) {
        let now = self.flow.segments();
        self.flow.round(BASE_US.max(self.before * self.us));
        self.before = now;
    }

    /// Mean window of a hundred rounds: it goes up and down.
    fn mean(&mut self) -> f64 {
        let rounds = (0..100).map(|_| {
            self.round();
            self.flow.window()
        });
        rounds.sum::<f64>() / 100.0
    }

    fn run(&mut self, us: u32) {
        let start = self.flow.now_us;
        while self.flow.now_us.wrapping_sub(start) < us {
            self.round();
        }
    }

    fn base(&self) -> u32 {
        self.flow.core.flow.rtt.min
    }
}

/// Half an hour, six such windows: the base is the path's, give or take the pair that measures it.
fn assert_base_stays(algorithm: Algorithm, us: u32) {
    let mut bottleneck = Bottleneck::of(algorithm, us);
    let pair = BASE_US.max(2 * us);
    bottleneck.run(5 * MINUTE_US);
    let early = bottleneck.mean();
    bottleneck.run(25 * MINUTE_US);
    assert!(bottleneck.base() <= pair, "base {} us", bottleneck.base());
    let late = bottleneck.mean();
    assert!(late <= early + 1.0, "{early} segments at first, {late} later");
}

#[test]
fn the_own_queue_does_not_become_the_base() {
    for level in LEVELS {
        assert_base_stays(level, USUAL_US);
    }
}

#[test]
fn nor_on_a_slow_wire() {
    for level in LEVELS {
        assert_base_stays(level, SLOW_US);
    }
}

#[test]
fn keeping_it_costs_less_than_a_thousandth() {
    let mut bottleneck = Bottleneck::of(Algorithm::Netnice, USUAL_US);
    bottleneck.run(5 * MINUTE_US);
    let (start_us, start) = (bottleneck.flow.now_us, bottleneck.flow.delivered);
    bottleneck.run(25 * MINUTE_US);
    let possible = (bottleneck.flow.now_us - start_us) / USUAL_US;
    let lost = 1.0 - f64::from(bottleneck.flow.delivered - start) / f64::from(possible);
    assert!(lost < 0.001, "{lost}");
}
