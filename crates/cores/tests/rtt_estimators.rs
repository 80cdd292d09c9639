// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Both RTT estimators, and what sets them apart.

mod feed;

use feed::{Feeder, BASE_US};
use netnice_cores::{Algorithm, Param, Recovery, Siblings};

const FIVE_MINUTES_US: u32 = 300_000_000;

fn netnice(estimator: u32) -> Feeder {
    Feeder::at(Algorithm::Netnice, &[(Param::Estimator, estimator)], 16.0)
}

#[test]
fn running_keeps_the_largest_sample_for_ever() {
    let mut flow = netnice(0);
    flow.mixed_round(&[(1, 50 * BASE_US), (15, BASE_US)]);
    assert_eq!(flow.core.flow.rtt.max, 50 * BASE_US);
}

#[test]
fn robust_moves_an_eighth_for_one_outlier() {
    let mut flow = netnice(1);
    flow.mixed_round(&[(1, 50 * BASE_US), (15, BASE_US)]);
    let max = flow.core.flow.rtt.max;
    assert!(
        max > 2 * BASE_US && max <= 2 * BASE_US + BASE_US / 8 + 1,
        "{max}"
    );
}

#[test]
fn robust_follows_a_real_queue_within_rounds() {
    let mut flow = netnice(1);
    for _ in 0..12 {
        flow.set_window(16.0);
        flow.round(4 * BASE_US);
    }
    assert!(flow.core.flow.rtt.max > 4 * BASE_US * 95 / 100);
}

#[test]
fn robust_learns_a_small_buffer_from_losses() {
    let full = BASE_US + BASE_US / 3;
    let mut flow = netnice(1);
    for _ in 0..8 {
        flow.set_window(16.0);
        flow.round(full - 500);
        flow.mixed_round(&[(8, full)]);
        flow.core.recovery(Recovery::Reduced);
        flow.core.recovery(Recovery::Open);
    }
    let max = flow.core.flow.rtt.max;
    assert!(
        max < full + BASE_US / 10 && max >= BASE_US + BASE_US / 4,
        "{max}"
    );
}

/// A late comer: its first guess of the worst was twice a long queue.
fn sub_packet(estimator: u32) -> Feeder {
    let mut flow = netnice(estimator);
    flow.set_window(0.25);
    flow.core.flow.rtt.max = 10 * BASE_US;
    flow
}

#[test]
fn robust_takes_the_worst_of_what_a_sub_packet_flow_meets() {
    let mut flow = sub_packet(1);
    flow.round(BASE_US * 3 / 2);
    assert_eq!(flow.core.flow.rtt.max, 10 * BASE_US, "one sample is none");
    flow.round(BASE_US * 2);
    assert_eq!(flow.core.flow.rtt.max, 2 * BASE_US);
    let mut paper = sub_packet(0);
    paper.round(BASE_US * 3 / 2);
    paper.round(BASE_US * 2);
    assert_eq!(paper.core.flow.rtt.max, 10 * BASE_US);
}

#[test]
fn robust_takes_a_short_queue_for_no_buffers_length() {
    let mut flow = sub_packet(1);
    for _ in 0..40 {
        flow.round(BASE_US * 5 / 4);
    }
    assert_eq!(flow.core.flow.rtt.max, 10 * BASE_US);
}

/// What a flow takes for the worst after a round in which another that goes the same way knows better.
fn told(estimator: u32, worst_us: u32, age_us: u32, measured: bool) -> u32 {
    let mut flow = sub_packet(estimator);
    if measured {
        flow.round(10 * BASE_US);
        flow.round(10 * BASE_US);
    }
    flow.set_window(4.0);
    flow.now_us = flow.now_us.wrapping_add(age_us);
    flow.core.siblings = Some(Siblings {
        flows: 1,
        worst_rtt: worst_us,
        ..Siblings::default()
    });
    flow.round(BASE_US);
    flow.core.flow.rtt.max
}

#[test]
fn robust_takes_anothers_word_only_while_it_guesses() {
    let guess = 10 * BASE_US;
    assert_eq!(told(1, 2 * BASE_US, 0, false), 2 * BASE_US);
    assert_eq!(
        told(1, BASE_US + 1, 0, false),
        BASE_US + BASE_US / 4,
        "no buffer is that small"
    );
    assert_eq!(
        told(1, 20 * BASE_US, 0, false),
        guess,
        "it has seen less itself"
    );
    assert_eq!(told(1, BASE_US, 0, false), guess, "another place");
    assert_eq!(told(1, 0, 0, false), guess, "nobody told");
    assert_eq!(
        told(1, 2 * BASE_US, 9_000_000, false),
        guess,
        "too old to guess"
    );
    assert_eq!(
        told(1, 2 * BASE_US, 0, true),
        guess,
        "it has measured itself"
    );
    assert_eq!(
        told(0, 2 * BASE_US, 0, false),
        guess,
        "the paper's never does"
    );
}

#[test]
fn robust_believes_in_no_buffer_larger_than_one_bdp() {
    let limit = |estimator| {
        let mut flow = sub_packet(estimator);
        flow.set_window(4.0);
        flow.core.rtt_limit()
    };
    assert_eq!(limit(1), BASE_US + BASE_US * 30 / 100);
    assert_eq!(limit(0), BASE_US + 9 * BASE_US * 30 / 100);
}

#[test]
fn running_never_accepts_a_longer_route() {
    let mut flow = netnice(0);
    for _ in 0..4 {
        flow.now_us = flow.now_us.wrapping_add(FIVE_MINUTES_US);
        flow.round(3 * BASE_US);
    }
    assert_eq!(flow.core.flow.rtt.min, BASE_US);
}

#[test]
fn robust_accepts_a_longer_route_after_two_windows() {
    let mut flow = netnice(1);
    flow.now_us = flow.now_us.wrapping_add(FIVE_MINUTES_US - 1_000_000);
    flow.round(3 * BASE_US);
    assert_eq!(flow.core.flow.rtt.min, BASE_US);
    for _ in 0..2 {
        flow.now_us = flow.now_us.wrapping_add(FIVE_MINUTES_US);
        flow.round(3 * BASE_US);
    }
    assert_eq!(flow.core.flow.rtt.min, 3 * BASE_US);
}

#[test]
fn smoothed_rtt_is_rfc_6298s() {
    let mut flow = netnice(1);
    let before = flow.core.flow.rtt.smoothed;
    flow.mixed_round(&[(2, 2 * BASE_US)]);
    let expected = before - before / 8 + 2 * BASE_US / 8;
    assert_eq!(flow.core.flow.rtt.smoothed, expected);
}

#[test]
fn robust_accepts_a_shorter_route_within_a_round() {
    let mut flow = netnice(1);
    flow.set_window(64.0);
    flow.round(BASE_US / 4);
    assert_eq!(flow.core.flow.rtt.min, BASE_US / 4);
}
