// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! netnice, one test a rule: a round's limit and its cut, slow start, the return to a remembered window, probes, losses.

use crate::feed::{Feeder, BASE_US};
use approx::assert_abs_diff_eq;
use netnice_cores::{Ack, Algorithm, Param, Recovery, Siblings, LONE, ONE};

/// A fifth of the base: the limit of the flows here.
const LIMIT_US: u32 = BASE_US / 5;
/// RTTs at the limit, and of a queue two and a half times as long.
const AT_LIMIT_US: u32 = BASE_US + LIMIT_US;
const QUEUED_US: u32 = BASE_US + BASE_US / 2;
/// What a queue of 2.5 limits leaves of a window.
const LEFT: f64 = 0.4 / 2.0;

const THRESHOLD: [(Param, u32); 1] = [(Param::Threshold, 20)];

fn netnice(window: f64) -> Feeder {
    Feeder::at(Algorithm::Netnice, &THRESHOLD, window)
}

fn near(window: f64, expected: f64) -> bool {
    (window - expected).abs() < 0.01
}

#[test]
fn the_limit_is_a_part_of_the_base() {
    assert_eq!(netnice(10.0).core.rtt_limit(), AT_LIMIT_US);
}

#[test]
fn the_first_round_has_no_limit() {
    let mut flow = Feeder::fresh(Algorithm::Netnice, &THRESHOLD);
    assert_eq!(flow.core.rtt_limit(), u32::MAX);
    flow.round(BASE_US);
    assert_eq!(flow.core.rtt_limit(), AT_LIMIT_US);
}

#[test]
fn a_round_just_above_the_limit_halves_the_window() {
    let mut flow = netnice(16.0);
    flow.round(AT_LIMIT_US + 1);
    assert!(near(flow.window(), 8.0), "{}", flow.window());
}

#[test]
fn the_longer_the_queue_the_less_is_left() {
    let mut flow = netnice(16.0);
    flow.round(QUEUED_US);
    assert!(near(flow.window(), 16.0 * LEFT), "{}", flow.window());
}

#[test]
fn a_round_at_the_limit_does_not_cut() {
    let mut flow = netnice(4.0);
    flow.round(AT_LIMIT_US);
    assert!(flow.window() >= 4.0);
}

#[test]
fn half_the_segments_above_the_limit_are_not_more_than_fraction() {
    let mut flow = netnice(16.0);
    flow.mixed_round(&[(8, QUEUED_US), (8, BASE_US)]);
    assert_eq!(flow.window(), 17.0);
}

#[test]
fn more_than_half_above_the_limit_halve() {
    let mut flow = netnice(16.0);
    flow.mixed_round(&[(10, QUEUED_US), (6, AT_LIMIT_US)]);
    assert_eq!(flow.window(), 8.0, "the least queue is the round's");
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
        let quick = flow.ack(1, sent, AT_LIMIT_US);
        flow.core.on_ack(&quick);
    }
    assert_eq!(flow.window(), 8.0);
}

/// A queue that no segment of the round escaped is another's; one that the least RTT hides may be the flow's own, once.
#[test]
fn a_round_with_an_empty_moment_drains_before_it_halves() {
    let mut flow = netnice(16.0);
    let round = |flow: &mut Feeder| {
        let fast = flow.segments() * 3 / 8;
        flow.mixed_round(&[(flow.segments() - fast, QUEUED_US), (fast, BASE_US)]);
    };
    round(&mut flow);
    let took = f64::from(10 * QUEUED_US + 6 * BASE_US) / 16.0;
    let carried = 16.0 * f64::from(BASE_US + 1_000) / took;
    assert!(near(flow.window(), carried), "{}", flow.window());
    round(&mut flow);
    assert!(near(flow.window(), carried), "left before the cut");
    round(&mut flow);
    assert!(near(flow.window(), carried / 2.0), "{}", flow.window());
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
    assert!(near(flow.window(), LEFT));
    for i in 0..10 {
        flow.round(QUEUED_US + i % 2 * 2_000); // a queue moves; RTTs that stand still are a longer way
    }
    assert_abs_diff_eq!(flow.window(), 1.0 / 48.0, epsilon = 1.0 / 4096.0);
}

#[test]
fn below_four_segments_every_round_votes() {
    for (window, next) in [(1.0, LEFT * LEFT), (3.9 / LEFT, 3.9 * LEFT), (4.1 / LEFT, 4.1)] {
        let mut flow = netnice(window);
        flow.round(QUEUED_US);
        flow.round(QUEUED_US);
        assert!(near(flow.window(), next), "{window}: {}", flow.window());
    }
}

/// 1 ms is no queue, and the limit is twice that.
#[test]
fn timer_noise_on_a_short_path_is_no_congestion() {
    for base_us in [30, 4_000] {
        let mut flow = netnice(16.0);
        flow.core.flow.rtt.min = base_us;
        flow.round(base_us);
        assert_eq!(flow.core.rtt_limit(), base_us + 2_000);
    }
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

/// 7/8 of 8 are 7. Its first round ends with 6, and Vegas goes on from there.
#[test]
fn a_timeout_starts_from_one_and_slow_starts_to_half() {
    let mut flow = netnice(16.0);
    flow.core.recovery(Recovery::Timeout);
    assert_eq!(flow.window(), 1.0);
    assert_eq!(flow.last_cwnd_after_quiet_ack(), 3);
    flow.core.recovery(Recovery::Open);
    for expected in [6.0, 8.0, 9.0] {
        flow.round(BASE_US);
        assert_eq!(flow.window(), expected);
    }
}

#[test]
fn a_timeout_below_one_does_not_lift_the_window() {
    let mut flow = netnice(0.125);
    flow.core.recovery(Recovery::Timeout);
    flow.core.recovery(Recovery::Timeout);
    assert!(flow.window() <= 0.125);
}

#[test]
fn a_false_loss_is_undone_and_tells_nothing_of_the_buffer() {
    let after = |lost: bool, undone: bool| {
        let mut flow = netnice(16.0);
        if lost {
            flow.core.recovery(Recovery::Reduced);
            flow.core.recovery(Recovery::Open);
        }
        if undone {
            flow.core.undo();
        }
        let window = flow.window();
        flow.round(BASE_US);
        (window, flow.core.rtt_limit())
    };
    assert_eq!(after(true, true), after(false, false));
    assert_eq!(after(true, true).0, 16.0);
    assert!(after(true, false).1 < after(false, false).1);
}

#[test]
fn a_lone_segment_tells_neither_congestion_nor_the_base() {
    for rtt_us in [10 * BASE_US, BASE_US / 2] {
        let mut flow = netnice(16.0);
        let start = flow.delivered;
        let lone = Ack {
            flags: LONE,
            ..flow.ack(16, start, rtt_us)
        };
        flow.core.on_ack(&lone);
        assert_eq!((flow.window(), flow.core.flow.rtt.min), (16.0, BASE_US), "{rtt_us} us");
    }
}

/// A first slow start, with a window of 16 that is in flight.
fn rising() -> Feeder {
    let mut flow = Feeder::fresh(Algorithm::Netnice, &THRESHOLD);
    grown(&mut flow, 3);
    assert_eq!(flow.window(), 16.0, "two, doubled in each round");
    flow
}

/// What the path carries of `window` segments a round without a queue, but for timer noise of 1 ms.
fn drained(window: f64, rtt_us: u32) -> f64 {
    window * f64::from(BASE_US + 1_000) / f64::from(rtt_us)
}

#[test]
fn slow_start_ends_in_a_congested_round_with_what_the_path_delivered() {
    let mut flow = rising();
    flow.round(QUEUED_US);
    let left = drained(16.0, QUEUED_US);
    assert!(near(flow.window(), left), "{}", flow.window());
    flow.round(QUEUED_US);
    assert!(near(flow.window(), left), "left before the window was drained");
    flow.round(QUEUED_US);
    assert!(near(flow.window(), left * LEFT), "{}", flow.window());
}

#[test]
fn slow_start_ends_with_half_of_alpha_queued() {
    let mut flow = rising();
    flow.round(BASE_US + 1_000);
    assert_eq!(
        (flow.window(), flow.core.flow.win.ssthresh),
        (32.0, 64 * ONE),
        "below timer noise"
    );
    let mut flow = rising();
    flow.round(BASE_US + 1_010); // 1.5 of 32 segments
    assert!(near(flow.window(), drained(16.0, BASE_US + 1_010)), "{}", flow.window());
    assert_eq!(flow.core.flow.win.ssthresh, flow.core.window());
}

#[test]
fn slow_start_pauses_when_a_segment_was_slow() {
    let mut flow = rising();
    flow.mixed_round(&[(2, QUEUED_US), (14, BASE_US)]);
    assert_eq!((flow.window(), flow.core.flow.win.ssthresh), (16.0, 32 * ONE));
}

/// The window after each of some rounds without a queue.
fn grown(flow: &mut Feeder, rounds: u32) -> Vec<f64> {
    let mut found = Vec::new();
    for _ in 0..rounds {
        flow.round(BASE_US);
        found.push(flow.window());
    }
    found
}

#[test]
fn after_three_clear_rounds_it_returns_to_what_filled_the_path() {
    let mut flow = netnice(16.0);
    flow.set_window(8.0);
    assert_eq!(
        grown(&mut flow, 5),
        [9.0, 10.0, 10.0, 15.0, 16.0],
        "doubled at most, to 7/8 of 16, and Vegas' segment"
    );
}

#[test]
fn a_return_that_meets_congestion_halves_the_memory() {
    let mut flow = netnice(64.0);
    flow.set_window(8.0);
    grown(&mut flow, 5);
    assert_eq!(flow.window(), 40.0, "10 doubled twice, of 7/8 of 64");
    flow.round(QUEUED_US);
    flow.set_window(20.0);
    assert_eq!(
        grown(&mut flow, 6),
        [20.0, 21.0, 22.0, 22.0, 29.0, 30.0],
        "to 7/8 of 32 at once, then a segment a round"
    );
}

#[test]
fn beyond_it_an_eighth_more_from_the_sixth_on() {
    let found = grown(&mut netnice(16.0), 7);
    assert_eq!(found, [17.0, 18.0, 19.0, 20.0, 21.0, 23.625, 23.625 * 9.0 / 8.0]);
}

#[test]
fn a_queue_of_two_segments_starts_the_count_again() {
    // Of 18 segments 1.6 or 2.3 wait, and 5 more rounds are needed after the latter.
    for (queue, left) in [(2_000, 2), (3_000, 5)] {
        let mut flow = netnice(16.0);
        grown(&mut flow, 2);
        flow.round(BASE_US + queue);
        let mut before = flow.window();
        for (round, window) in grown(&mut flow, left + 1).into_iter().enumerate() {
            let probe = round as u32 == left;
            let step = if probe { before / 8.0 } else { 1.0 };
            assert_eq!(window, before + step, "{queue} us, round {round}");
            before = window;
        }
    }
}

#[test]
fn a_probe_that_meets_a_queue_ends_with_what_the_path_delivered() {
    let mut flow = netnice(16.0);
    grown(&mut flow, 6);
    flow.round(QUEUED_US);
    assert!(near(flow.window(), drained(23.0, QUEUED_US)), "{}", flow.window());
}

/// What such a round adds to a window of eleven, as one of so many flows with this mean.
fn growth(rtt_us: u32, flows: u32, mean: u32) -> f64 {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 11.0);
    flow.core.siblings = Some(Siblings {
        flows,
        window: mean * ONE,
        ..Siblings::default()
    });
    flow.round(rtt_us);
    flow.window() - 11.0
}

#[test]
fn a_hosts_flows_keep_together_what_one_would() {
    let own = BASE_US + 2_000; // one segment of each flow
    assert_abs_diff_eq!(growth(own, 1, 11), 1.0, epsilon = 0.01);
    assert_abs_diff_eq!(growth(own, 2, 11), 0.0, epsilon = 0.01);
    let excess = 8.0 - 3.0;
    assert_abs_diff_eq!(growth(own, 8, 11), -excess / 8.0 / 8.0, epsilon = 0.01);
}

#[test]
fn a_hosts_flows_add_together_what_the_limit_bears() {
    assert_abs_diff_eq!(growth(BASE_US, 40, 11), 10.0 / 40.0, epsilon = 0.01);
    assert_eq!(growth(BASE_US, 40, 22), 1.0, "below their mean");
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
fn a_pause_begins_a_round() {
    let mut flow = netnice(16.0);
    flow.mixed_round(&[(14, 2 * BASE_US)]);
    let before = flow.window();
    flow.now_us += 60_000_000;
    flow.core.restart(flow.now_us, flow.delivered);
    flow.round(BASE_US);
    assert!(flow.window() >= before, "{before} {}", flow.window());
}

impl Feeder {
    fn last_cwnd_after_quiet_ack(&mut self) -> u32 {
        let ack = self.ack(2, self.delivered, BASE_US);
        self.core.on_ack(&ack).cwnd
    }
}
