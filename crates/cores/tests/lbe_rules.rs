// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! NICE as the report on low-priority TCP in Linux states it: `nice` with a threshold of 0.2.

use netnice_cores::{Algorithm, Param, Recovery, ONE};

use crate::feed::{Feeder, BASE_US};

/// A fifth of the way from the least to the largest RTT, which is twice the first.
const LIMIT_US: u32 = BASE_US + BASE_US / 5;

fn nice(window: f64) -> Feeder {
    Feeder::at(Algorithm::Nice, &[(Param::Threshold, 20)], window)
}

#[test]
fn above_a_fifth_of_the_rtt_range_it_halves_and_at_it_does_not() {
    let (mut above, mut at) = (nice(16.0), nice(16.0));
    above.round(LIMIT_US + 1);
    at.round(LIMIT_US);
    assert_eq!(above.window(), 8.0);
    assert_eq!(at.window(), 16.0, "2.7 of its segments wait, between alpha and beta");
}

#[test]
fn a_tenth_of_the_rtt_range_is_no_congestion() {
    let tenth = BASE_US + BASE_US / 10 + 1;
    let mut paper = Feeder::at(Algorithm::Nice, &[], 16.0);
    paper.round(tenth);
    assert_eq!(paper.window(), 8.0, "TCP Nice's own threshold");
    let mut flow = nice(16.0);
    flow.round(tenth);
    assert_eq!(flow.window(), 16.0);
}

#[test]
fn the_largest_rtt_so_far_counts() {
    let mut flow = nice(16.0);
    flow.mixed_round(&[(2, 11 * BASE_US), (14, BASE_US)]);
    flow.set_window(200.0);
    flow.round(3 * BASE_US);
    assert!(
        flow.window() > 190.0,
        "a fifth of ten base RTTs is two: {}",
        flow.window()
    );
    flow.set_window(200.0);
    flow.round(3 * BASE_US + 1);
    assert_eq!(flow.window(), 100.0);
}

#[test]
fn after_a_timeout_slow_start_goes_up_to_half() {
    let mut flow = nice(16.0);
    flow.core.recovery(Recovery::Timeout);
    assert_eq!(flow.window(), 1.0);
    flow.core.recovery(Recovery::Open);
    flow.round(BASE_US);
    flow.round(BASE_US);
    assert_eq!(flow.window(), 6.0, "a pair, then three segments, each adds one");
    flow.round(BASE_US);
    assert!((8.0..9.0).contains(&flow.window()), "{}", flow.window());
    flow.round(BASE_US);
    assert!(
        (9.0..10.0).contains(&flow.window()),
        "one a round trip: {}",
        flow.window()
    );
}

#[test]
fn after_idle_time_the_window_is_relearnt() {
    for (idle_us, left) in [(50_000, 64.0), (500_000, 16.0), (5_000_000, 2.0)] {
        let mut flow = nice(64.0);
        flow.core.restart(flow.now_us + idle_us, flow.delivered);
        assert_eq!(flow.window(), left);
        if left < 64.0 {
            assert_eq!(flow.core.flow.win.ssthresh, 48 * ONE);
            assert_eq!(flow.core.flow.round.end, flow.delivered, "and the round is a new one");
        }
    }
}
