// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Reno (RFC 5681), and Linux's rule that a window which is not used does not grow.

mod feed;

use feed::{Feeder, BASE_US, MSS};
use netnice_cores::{Ack, Algorithm, Core, ONE};

/// Round trips of a flow whose receiver lets no more than `limit` segments fly, two to an ACK.
fn limited(core: &mut Core, limit: u32, rounds: u32) {
    let mut delivered = 0;
    for round in 0..rounds {
        let start = delivered;
        let flight = limit.min(core.window() / ONE);
        for pair in 1..=flight / 2 {
            delivered += 2;
            core.on_ack(&Ack {
                now_us: 1_000_000 + round * BASE_US + pair,
                delivered,
                sent_delivered: start,
                acked: 2,
                rtt_us: BASE_US,
                in_flight: flight - 2,
                mss: MSS,
                ..Ack::default()
            });
        }
    }
}

#[test]
fn the_window_doubles_in_slow_start() {
    let mut core = Core::new(Algorithm::Reno, 1_000_000, BASE_US);
    limited(&mut core, u32::MAX, 5);
    assert_eq!(core.window(), 320 * ONE);
}

#[test]
fn the_window_grows_by_one_a_round_trip() {
    let mut flow = Feeder::at(Algorithm::Reno, &[], 40.0);
    for _ in 0..10 {
        flow.round(BASE_US);
    }
    assert!((49.5..50.1).contains(&flow.window()), "{}", flow.window());
}

#[test]
fn slow_start_with_a_small_receiver_ends_at_twice_its_window() {
    let mut core = Core::new(Algorithm::Reno, 1_000_000, BASE_US);
    limited(&mut core, 20, 1_000);
    assert!(
        (40 * ONE..=42 * ONE).contains(&core.window()),
        "{}",
        core.window() / ONE
    );
}

#[test]
fn congestion_avoidance_with_a_small_receiver_ends_near_its_window() {
    let mut flow = Feeder::at(Algorithm::Reno, &[], 18.0);
    limited(&mut flow.core, 20, 10_000);
    assert!((20.0..29.0).contains(&flow.window()), "{}", flow.window());
}
