// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The row `nice` keeps to the paper: sections 2.2 and 2.3, one test a rule, and none of what netnice adds.

mod feed;

use approx::assert_abs_diff_eq;
use feed::{Feeder, BASE_US};
use netnice_cores::{Ack, Algorithm, Param, Recovery, Siblings, LONE};

/// A tenth of the way from the least to the largest RTT, which is twice the first.
const LIMIT_US: u32 = BASE_US + BASE_US / 10;
const FLOOR: f64 = 1.0 / 48.0;

fn nice(window: f64) -> Feeder {
    Feeder::at(Algorithm::Nice, &[], window)
}

#[test]
fn a_round_above_the_threshold_halves_and_one_at_it_does_not() {
    let (mut above, mut at) = (nice(16.0), nice(16.0));
    above.round(LIMIT_US + 1);
    at.round(LIMIT_US);
    assert_eq!(above.window(), 8.0);
    assert!(at.window() >= 16.0);
}

#[test]
fn the_threshold_is_the_parameter() {
    let mut flow = Feeder::at(Algorithm::Nice, &[(Param::Threshold, 50)], 16.0);
    flow.round(BASE_US + BASE_US / 2);
    assert!(flow.window() > 8.0);
    flow.round(BASE_US + BASE_US / 2 + 1);
    assert!(flow.window() <= 8.0);
}

#[test]
fn more_than_half_of_the_segments_must_be_slow() {
    let (mut half, mut more) = (nice(16.0), nice(16.0));
    half.mixed_round(&[(8, LIMIT_US + 1), (8, BASE_US)]);
    more.mixed_round(&[(9, LIMIT_US + 1), (7, BASE_US)]);
    assert!(half.window() >= 16.0);
    assert_eq!(more.window(), 8.0);
}

#[test]
fn each_round_is_judged_down_to_a_48th() {
    let mut flow = nice(2.0);
    for halved in [1.0, 0.5, 0.25] {
        flow.round(2 * BASE_US);
        assert_eq!(flow.window(), halved);
    }
    for _ in 0..8 {
        flow.round(2 * BASE_US);
    }
    assert_abs_diff_eq!(flow.window(), FLOOR, epsilon = 0.001);
}

#[test]
fn an_empty_path_is_vegas() {
    let mut flow = nice(16.0);
    flow.round(BASE_US);
    assert_eq!(flow.window(), 17.0);
    flow.round(BASE_US);
    assert_eq!(flow.window(), 18.0);
}

#[test]
fn more_than_beta_queued_shrinks_by_one() {
    let mut flow = nice(200.0);
    flow.round(BASE_US + BASE_US / 20);
    assert_eq!(flow.window(), 199.0);
}

#[test]
fn from_the_floor_one_quiet_round_adds_a_segment() {
    let mut flow = nice(FLOOR);
    flow.round(BASE_US);
    assert_abs_diff_eq!(flow.window(), 1.0 + FLOOR, epsilon = 0.001);
}

#[test]
fn a_lost_packet_is_reno() {
    let mut flow = nice(16.0);
    flow.core.recovery(Recovery::Reduced);
    assert_eq!(flow.window(), 8.0);
    flow.core.recovery(Recovery::Open);
    flow.core.recovery(Recovery::Timeout);
    assert_eq!(flow.window(), 1.0);
}

#[test]
fn a_lone_segment_is_no_witness_of_a_queue() {
    let mut flow = nice(16.0);
    let largest = flow.core.flow.rtt.max;
    let ack = Ack {
        now_us: flow.now_us,
        delivered: flow.delivered + 1,
        sent_delivered: flow.delivered,
        acked: 1,
        rtt_us: 3 * BASE_US,
        flags: LONE,
        ..Ack::default()
    };
    flow.core.on_ack(&ack);
    assert_eq!(flow.core.flow.rtt.max, largest);
    assert!(flow.window() >= 16.0);
}

#[test]
fn siblings_change_nothing() {
    let (mut one, mut many) = (nice(16.0), nice(16.0));
    many.core.siblings = Some(Siblings {
        flows: 8,
        window: 4096,
        worst_rtt: BASE_US + 1,
        sub_packet: 7,
    });
    for rtt in [BASE_US, LIMIT_US + 1, BASE_US, 2 * BASE_US] {
        one.round(rtt);
        many.round(rtt);
        assert_eq!(one.window(), many.window());
    }
}

#[test]
fn below_two_segments_pairs_leave_every_two_windows_of_round_trips() {
    let mut flow = nice(0.25);
    flow.round(2 * BASE_US); // to an eighth
    let pair = 2.0 * f64::from(feed::MSS);
    let gap_us = pair / flow.last.rate as f64 * 1e6;
    let srtt = f64::from(flow.core.flow.rtt.smoothed);
    assert_abs_diff_eq!(gap_us / srtt, 16.0, epsilon = 0.1);
}
