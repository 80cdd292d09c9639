// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The rules of TCP Nice, section 2.2 and 2.3, one test a rule.

use crate::feed::{Feeder, BASE_US};
use approx::assert_abs_diff_eq;
use netnice_cores::{Ack, Algorithm, Param, Recovery, Siblings, LONE, ONE};

const QUEUED_US: u32 = BASE_US + BASE_US / 2;

fn netnice(window: f64) -> Feeder {
    Feeder::at(Algorithm::Netnice, &[(Param::Threshold, 20)], window)
}

#[test]
fn max_rtt_starts_at_twice_the_first_sample() {
    let flow = netnice(10.0).core.flow;
    assert_eq!((flow.rtt.min, flow.rtt.max), (BASE_US, 2 * BASE_US));
}

#[test]
fn limit_is_the_weighted_mean_of_min_and_max_rtt() {
    assert_eq!(netnice(10.0).core.rtt_limit(), BASE_US + BASE_US * 20 / 100);
}

#[test]
fn below_one_segment_the_threshold_is_another() {
    let mut flow = netnice(1.0);
    flow.round(QUEUED_US);
    assert!(flow.window() < 1.0);
    assert_eq!(flow.core.rtt_limit(), BASE_US + BASE_US * 36 / 100);
}

#[test]
fn a_round_above_the_limit_halves_the_window() {
    let mut flow = netnice(16.0);
    flow.round(QUEUED_US);
    assert_eq!(flow.window(), 8.0);
}

#[test]
fn a_round_at_the_limit_does_not_halve() {
    let mut flow = netnice(4.0);
    let limit = flow.core.rtt_limit();
    flow.round(limit);
    assert!(flow.window() >= 4.0);
}

#[test]
fn half_the_segments_above_the_limit_are_not_more_than_fraction() {
    let mut flow = netnice(16.0);
    flow.mixed_round(&[(8, QUEUED_US), (8, BASE_US)]);
    assert!(flow.window() > 16.0);
}

#[test]
fn more_than_half_above_the_limit_halve() {
    let mut flow = netnice(16.0);
    flow.mixed_round(&[(10, QUEUED_US), (6, BASE_US)]);
    assert_eq!(flow.window(), 8.0);
}

#[test]
fn segments_count_not_acks() {
    // One stretched ACK of ten slow segments among six quick ACKs of one: most ACKs are quick, most segments are not.
    let mut flow = netnice(16.0);
    let start = flow.delivered;
    let stretched = flow.ack(10, start.wrapping_sub(1), QUEUED_US);
    flow.core.on_ack(&stretched);
    for i in 0..6 {
        let sent = if i == 5 { start } else { start.wrapping_sub(1) };
        let quick = flow.ack(1, sent, BASE_US);
        flow.core.on_ack(&quick);
    }
    assert_eq!(flow.window(), 8.0);
}

#[test]
fn without_congestion_vegas_adds_a_segment() {
    let mut flow = netnice(16.0);
    flow.round(BASE_US);
    assert_eq!(flow.window(), 17.0);
}

#[test]
fn congestion_takes_the_window_below_one_down_to_one_48th() {
    let mut flow = netnice(1.0);
    flow.round(QUEUED_US);
    assert_eq!(flow.window(), 0.5);
    for i in 0..10 {
        flow.round(QUEUED_US + i % 2 * 2_000); // a queue moves; RTTs that stand still are a longer way
    }
    assert_abs_diff_eq!(flow.window(), 1.0 / 48.0, epsilon = 1.0 / 4096.0);
}

#[test]
fn below_one_a_quiet_pair_brings_a_segment_back() {
    let mut flow = netnice(1.0 / 48.0);
    flow.round(BASE_US);
    assert!(flow.window() > 1.0 && flow.window() < 1.03);
}

#[test]
fn a_loss_halves_once_per_recovery() {
    let mut flow = netnice(16.0);
    flow.core.recovery(Recovery::Reduced);
    flow.core.recovery(Recovery::Reduced);
    assert_eq!(flow.window(), 8.0);
    flow.round(BASE_US);
    assert_eq!(flow.window(), 8.0, "no growth while something is missing");
    flow.core.recovery(Recovery::Open);
    flow.round(BASE_US);
    assert_eq!(flow.window(), 9.0);
}

#[test]
fn a_timeout_starts_from_one_and_slow_starts_to_half() {
    let mut flow = netnice(16.0);
    flow.core.recovery(Recovery::Timeout);
    assert_eq!(flow.window(), 1.0);
    assert_eq!(flow.last_cwnd_after_quiet_ack(), 3);
    flow.core.recovery(Recovery::Open);
    for _ in 0..3 {
        flow.round(BASE_US);
    }
    assert!((8.0..=10.0).contains(&flow.window()), "{}", flow.window());
}

#[test]
fn a_timeout_below_one_does_not_lift_the_window() {
    let mut flow = netnice(0.125);
    flow.core.recovery(Recovery::Timeout);
    flow.core.recovery(Recovery::Timeout);
    assert!(flow.window() <= 0.125);
}

#[test]
fn a_false_loss_is_undone() {
    let mut flow = netnice(16.0);
    flow.core.recovery(Recovery::Reduced);
    flow.core.undo();
    assert_eq!(flow.window(), 16.0);
}

#[test]
fn a_lone_segment_tells_the_base_but_not_congestion() {
    let mut flow = netnice(16.0);
    let start = flow.delivered;
    let lone = Ack {
        flags: LONE,
        ..flow.ack(16, start, 10 * BASE_US)
    };
    flow.core.on_ack(&lone);
    assert_eq!(flow.core.flow.rtt.max, 2 * BASE_US);
    assert!(flow.window() >= 16.0);
}

#[test]
fn a_lan_is_not_throttled_by_timer_noise() {
    let mut flow = netnice(16.0);
    flow.core.flow.rtt.min = 30;
    flow.core.flow.rtt.max = 60;
    flow.round(900);
    assert!(flow.window() > 16.0);
    flow.round(2_000);
    assert!(flow.window() < 16.0);
}

/// In slow start, at 32 segments.
fn doubled() -> Feeder {
    let mut flow = netnice(16.0);
    flow.core.flow.win.ssthresh = u32::MAX;
    flow.round(BASE_US);
    assert_eq!(flow.core.window(), 32 * ONE);
    flow
}

/// What the path carries of 32 segments a round without a queue, but for the floor of 1 ms.
fn drained(rtt_us: u32) -> f64 {
    32.0 * (BASE_US + 1000) as f64 / rtt_us as f64
}

fn about(window: f64, expected: f64) -> bool {
    (window - expected).abs() < 0.01 * expected
}

#[test]
fn slow_start_ends_in_a_congested_round_with_what_the_path_delivered() {
    let mut flow = doubled();
    flow.round(QUEUED_US);
    assert!(about(flow.window(), drained(QUEUED_US)), "{}", flow.window());
    let before = flow.window();
    flow.round(QUEUED_US);
    assert_eq!(flow.window(), before, "left before the window was drained");
    flow.round(QUEUED_US);
    assert!(about(flow.window(), before / 2.0));
}

#[test]
fn slow_start_ends_with_more_than_gamma_queued() {
    let rtt = BASE_US + 2000;
    let mut flow = doubled();
    flow.round(rtt);
    assert!(about(flow.window(), drained(rtt)), "{}", flow.window());
    assert!(flow.core.flow.win.ssthresh <= flow.core.window());
}

#[test]
fn slow_start_pauses_when_a_segment_was_slow() {
    let mut flow = doubled();
    flow.mixed_round(&[(2, QUEUED_US), (30, BASE_US)]);
    assert_eq!(flow.window(), 32.0);
}

/// Has filled the path with 22 segments, and was halved since.
fn halved() -> Feeder {
    let mut flow = doubled();
    for _ in 0..3 {
        flow.round(QUEUED_US);
    }
    flow
}

/// How often the window grew by one before it grew faster.
fn patient_rounds(flow: &mut Feeder) -> u32 {
    for round in 0..50 {
        let before = flow.window();
        flow.round(BASE_US);
        if flow.window() > before + 1.5 {
            assert!(about(flow.window(), before * 1.25), "{before}");
            return round;
        }
    }
    50
}

#[test]
fn in_the_third_quiet_round_growth_speeds_up() {
    assert_eq!(patient_rounds(&mut halved()), 2);
}

#[test]
fn beyond_what_once_filled_the_path_in_the_sixth() {
    let mut flow = halved();
    flow.set_window(23.0);
    assert_eq!(patient_rounds(&mut flow), 5);
}

#[test]
fn a_queue_of_two_segments_starts_the_count_again() {
    for (queue, left) in [(3000, 0), (3900, 2)] {
        let mut flow = halved();
        flow.round(BASE_US);
        flow.round(BASE_US);
        flow.round(BASE_US + queue);
        assert_eq!(patient_rounds(&mut flow), left, "{queue} us");
    }
}

/// What a round with one segment of this flow queued adds to a window of eleven, as one of so many flows.
fn growth(flows: u32) -> f64 {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 11.0);
    flow.core.siblings = Some(Siblings {
        flows,
        ..Siblings::default()
    });
    flow.round(BASE_US + 2000);
    flow.window() - 11.0
}

#[test]
fn a_hosts_flows_keep_together_what_one_would() {
    assert_abs_diff_eq!(growth(1), 1.0, epsilon = 0.01);
    assert_abs_diff_eq!(growth(2), 0.0, epsilon = 0.01);
    assert_abs_diff_eq!(growth(8), -1.0 / 8.0, epsilon = 0.01);
}

#[test]
fn each_of_many_flows_tolerates_less() {
    let percent = |flows| {
        let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
        flow.core.siblings = Some(Siblings {
            flows,
            ..Siblings::default()
        });
        flow.round(BASE_US);
        (flow.core.rtt_limit() - BASE_US) * 100 / BASE_US
    };
    let found: Vec<_> = [1, 3, 4, 15, 16, 63, 64].iter().map(|&flows| percent(flows)).collect();
    assert_eq!(found, [30, 30, 22, 22, 15, 15, 12]);
}

#[test]
fn to_many_a_pairs_own_time_is_no_queue() {
    let pair_us = 2000;
    let limit = |flows| {
        let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
        flow.core.flow.rtt.min = BASE_US - pair_us; // a greeting's small segment told it
        flow.core.siblings = Some(Siblings {
            flows,
            ..Siblings::default()
        });
        flow.round(BASE_US);
        flow.core.rtt_limit()
    };
    let base = BASE_US - pair_us;
    assert_eq!(limit(1), base + base * 30 / 100);
    assert_eq!(limit(8), base + base * 22 / 100 + pair_us);
}

#[test]
fn growth_in_a_hurry_ends_with_what_the_path_delivered() {
    let mut flow = halved();
    patient_rounds(&mut flow);
    let before = flow.window();
    flow.round(QUEUED_US);
    let left = before * (BASE_US + 1000) as f64 / QUEUED_US as f64;
    assert_abs_diff_eq!(flow.window(), left, epsilon = 1.0);
}

#[test]
fn a_window_that_the_receiver_keeps_from_being_used_does_not_grow() {
    let mut flow = netnice(64.0);
    for _ in 0..20 {
        let start = flow.delivered;
        let ack = Ack {
            in_flight: 8,
            ..flow.ack(8, start, BASE_US)
        };
        flow.core.on_ack(&ack);
    }
    assert_eq!(flow.window(), 64.0);
}

#[test]
fn after_idle_time_the_window_is_relearnt() {
    for (idle_us, left) in [(50_000, 64.0), (500_000, 16.0), (5_000_000, 2.0)] {
        let mut flow = netnice(64.0);
        flow.core.restart(flow.now_us + idle_us, flow.delivered);
        assert_eq!(flow.window(), left);
        if left < 64.0 {
            assert_eq!(flow.core.flow.win.ssthresh, 48 * ONE);
            assert_eq!(flow.core.flow.round.end, flow.delivered, "and the round is a new one");
        }
    }
}

impl Feeder {
    fn last_cwnd_after_quiet_ack(&mut self) -> u32 {
        let ack = self.ack(2, self.delivered.wrapping_sub(1), BASE_US);
        self.core.on_ack(&ack).cwnd
    }
}

#[test]
fn below_one_every_pair_votes() {
    let mut flow = netnice(1.0);
    flow.round(QUEUED_US);
    flow.round(QUEUED_US);
    assert_eq!(flow.window(), 0.25);
}
