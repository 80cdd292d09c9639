// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is taken for the base and the worst RTT: by TCP Nice as the paper has it, and by netnice.

mod feed;

use feed::{Feeder, BASE_US};
use netnice_cores::{Algorithm, Recovery, Siblings};

const FIVE_MINUTES_US: u32 = 300_000_000;

fn nice() -> Feeder {
    Feeder::at(Algorithm::Nice, &[], 16.0)
}

fn netnice() -> Feeder {
    Feeder::at(Algorithm::Netnice, &[], 16.0)
}

#[test]
fn nice_keeps_the_largest_sample_for_ever() {
    let mut flow = nice();
    flow.mixed_round(&[(1, 50 * BASE_US), (15, BASE_US)]);
    assert_eq!(flow.core.flow.rtt.max, 50 * BASE_US);
}

#[test]
fn netnice_moves_an_eighth_for_one_outlier() {
    let mut flow = netnice();
    flow.mixed_round(&[(1, 50 * BASE_US), (15, BASE_US)]);
    let max = flow.core.flow.rtt.max;
    assert!(
        max > 2 * BASE_US && max <= 2 * BASE_US + BASE_US / 8 + 1,
        "{max}"
    );
}

#[test]
fn netnice_follows_a_real_queue_within_rounds() {
    let mut flow = netnice();
    for _ in 0..12 {
        flow.set_window(16.0);
        flow.round(4 * BASE_US);
    }
    assert!(flow.core.flow.rtt.max > 4 * BASE_US * 95 / 100);
}

#[test]
fn netnice_learns_a_small_buffer_from_losses() {
    let full = BASE_US + BASE_US / 3;
    let mut flow = netnice();
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
fn sub_packet(mut flow: Feeder) -> Feeder {
    flow.set_window(0.25);
    flow.core.flow.rtt.max = 10 * BASE_US;
    flow
}

#[test]
fn netnice_takes_the_worst_of_what_a_sub_packet_flow_meets() {
    let mut flow = sub_packet(netnice());
    flow.round(BASE_US * 3 / 2);
    assert_eq!(flow.core.flow.rtt.max, 10 * BASE_US, "one sample is none");
    flow.round(BASE_US * 2);
    assert_eq!(flow.core.flow.rtt.max, 2 * BASE_US);
    let mut paper = sub_packet(nice());
    paper.round(BASE_US * 3 / 2);
    paper.round(BASE_US * 2);
    assert_eq!(paper.core.flow.rtt.max, 10 * BASE_US);
}

#[test]
fn netnice_takes_a_short_queue_for_no_buffers_length() {
    let mut flow = sub_packet(netnice());
    for _ in 0..40 {
        flow.round(BASE_US * 5 / 4);
    }
    assert_eq!(flow.core.flow.rtt.max, 10 * BASE_US);
}

/// What a flow takes for the worst after a round in which another that goes the same way knows better.
fn told(worst_us: u32, age_us: u32, measured: bool) -> u32 {
    let mut flow = sub_packet(netnice());
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
fn netnice_takes_anothers_word_only_while_it_guesses() {
    let guess = 10 * BASE_US;
    assert_eq!(told(2 * BASE_US, 0, false), 2 * BASE_US);
    assert_eq!(
        told(BASE_US + 1, 0, false),
        BASE_US + BASE_US / 4,
        "no buffer is that small"
    );
    assert_eq!(
        told(20 * BASE_US, 0, false),
        guess,
        "it has seen less itself"
    );
    assert_eq!(told(BASE_US, 0, false), guess, "another place");
    assert_eq!(told(0, 0, false), guess, "nobody told");
    assert_eq!(
        told(2 * BASE_US, 9_000_000, false),
        guess,
        "too old to guess"
    );
    assert_eq!(told(2 * BASE_US, 0, true), guess, "it has measured itself");
}

#[test]
fn netnice_believes_in_no_buffer_larger_than_one_bdp() {
    let mut flow = sub_packet(netnice());
    flow.set_window(4.0);
    assert_eq!(flow.core.rtt_limit(), BASE_US + BASE_US * 30 / 100);
}

#[test]
fn nice_never_accepts_a_longer_route() {
    let mut flow = nice();
    for _ in 0..4 {
        flow.now_us = flow.now_us.wrapping_add(FIVE_MINUTES_US);
        flow.round(3 * BASE_US);
    }
    assert_eq!(flow.core.flow.rtt.min, BASE_US);
}

#[test]
fn netnice_accepts_a_longer_route_after_two_windows() {
    let mut flow = netnice();
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
    let mut flow = netnice();
    let before = flow.core.flow.rtt.smoothed;
    flow.mixed_round(&[(2, 2 * BASE_US)]);
    let expected = before - before / 8 + 2 * BASE_US / 8;
    assert_eq!(flow.core.flow.rtt.smoothed, expected);
}

#[test]
fn netnice_accepts_a_shorter_route_within_a_round() {
    let mut flow = netnice();
    flow.set_window(64.0);
    flow.round(BASE_US / 4);
    assert_eq!(flow.core.flow.rtt.min, BASE_US / 4);
}
