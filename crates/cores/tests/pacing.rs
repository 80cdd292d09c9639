// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! From a window to a sender's cwnd and rate: pairs below two, the bounded silence, and the way back.

use crate::feed::{Feeder, BASE_US, MSS};
use approx::assert_abs_diff_eq;
use netnice_cores::{Ack, Algorithm, Param, Recovery, ONE, RETRANSMITTED};

/// How long two segments take at this rate, microseconds.
fn pair_gap_us(rate: u64) -> f64 {
    2.0 * MSS as f64 * 1e6 / rate as f64
}

fn forced(window: f64) -> Feeder {
    let w = (window * ONE as f64) as u32;
    let mut flow = Feeder::at(Algorithm::Netnice, &[(Param::ForceWindow, w)], 4.0);
    flow.round(BASE_US);
    flow
}

#[test]
fn below_two_a_pair_leaves_every_two_over_w_round_trips() {
    for window in [1.0, 0.5, 0.125, 1.0 / 48.0] {
        let flow = forced(window);
        let ideal = 2.0 / window * flow.core.flow.rtt.smoothed as f64;
        let ratio = pair_gap_us(flow.last.rate) / ideal;
        assert!((0.99..1.01).contains(&ratio), "W = {window}: {ratio}");
        assert_eq!(flow.last.cwnd, 4);
    }
}

#[test]
fn where_a_segment_takes_long_they_leave_one_by_one() {
    let mut flow = forced(0.5);
    let pairs = flow.last.rate;
    flow.core.flow.win.set_single(1);
    let ack = flow.ack(2, flow.delivered.wrapping_sub(1), BASE_US);
    let send = flow.core.on_ack(&ack);
    assert_eq!(send.cwnd, 2);
    let part = send.rate as f64 / pairs as f64;
    assert!((0.95..1.05).contains(&part), "the window is the same: {part}");
}

#[test]
fn from_two_on_the_window_limits_and_pacing_spreads() {
    let flow = forced(16.0);
    let spread = 16.0 * MSS as f64 / flow.last.rate as f64 * 1e6;
    let share = spread / flow.core.flow.rtt.smoothed as f64;
    assert_eq!(flow.last.cwnd, 16);
    assert!((0.8..0.87).contains(&share), "{share}");
}

#[test]
fn unpaced_two_segments_and_more_leave_as_acks_let_them_go() {
    let leaves = |unpaced, window| {
        let params = [(Param::Unpaced, unpaced)];
        let mut flow = Feeder::at(Algorithm::Nice, &params, window);
        flow.round(BASE_US);
        flow.last.now
    };
    assert!(!leaves(0, 16.0), "paced");
    assert!(leaves(1, 16.0));
    assert!(!leaves(1, 0.5), "pairs are paced always");
}

/// The gap between two pairs at the least window.
fn sub_packet_gap(gap_ms: u32, sub_packet: u32) -> f64 {
    let params = [(Param::MaxGap, gap_ms)];
    let mut flow = Feeder::at(Algorithm::Netnice, &params, 1.0 / 48.0);
    flow.core.flow.win.asking = sub_packet as u8;
    let ack = flow.ack(2, flow.delivered.wrapping_sub(1), BASE_US);
    pair_gap_us(flow.core.on_ack(&ack).rate)
}

#[test]
fn a_lone_sub_packet_flow_asks_at_least_once_a_max_gap() {
    assert_abs_diff_eq!(sub_packet_gap(1000, 1) / 1e6, 1.0, epsilon = 0.01);
}

#[test]
fn the_more_are_sub_packet_the_rarer_each_asks_down_to_the_papers_floor() {
    assert_abs_diff_eq!(sub_packet_gap(250, 6) / 1e6, 1.5, epsilon = 0.01);
    let floor = 96.0 * BASE_US as f64;
    assert_abs_diff_eq!(sub_packet_gap(1000, 100) / floor, 1.0, epsilon = 0.02);
}

#[test]
fn max_gap_zero_is_the_papers_floor() {
    let gap = sub_packet_gap(0, 1);
    let papers_floor = 96.0 * BASE_US as f64;
    assert_abs_diff_eq!(gap / papers_floor, 1.0, epsilon = 0.02);
}

#[test]
fn a_grown_window_does_not_wait_for_a_smaller_ones_deadline() {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 1.0 / 48.0);
    let ack = Ack {
        held_us: 900_000,
        ..flow.ack(2, flow.delivered, BASE_US)
    };
    let send = flow.core.on_ack(&ack);
    assert!(send.now && send.cwnd == 2, "{send:?}");
}

#[test]
fn while_stamps_lie_the_rtt_is_the_rounds_own() {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 1.0 / 48.0);
    let start = flow.delivered;
    let freed = Ack {
        held_us: 900_000,
        ..flow.ack(2, start, BASE_US)
    };
    flow.core.on_ack(&freed);
    // The kernel's RTT says nothing (0); the round took six base RTTs: there is a queue of other traffic.
    flow.now_us += 6 * BASE_US;
    let sent = flow.delivered;
    let late = Ack {
        held_us: 700_000,
        ..flow.ack(2, sent, 0)
    };
    let send = flow.core.on_ack(&late);
    assert!(flow.window() < 1.0, "{}", flow.window());
    assert!(!send.now, "a sub-packet flow waits for the deadline again");
}

#[test]
fn stamps_are_trusted_again_a_round_after_the_deadline() {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 1.0 / 48.0);
    let freed = Ack {
        held_us: 60_000,
        ..flow.ack(2, flow.delivered, BASE_US)
    };
    assert!(flow.core.on_ack(&freed).now);
    let lying = flow.delivered;
    flow.now_us += BASE_US;
    let passed = flow.ack(2, lying, 1);
    assert!(!flow.core.on_ack(&passed).now);
    assert_eq!(flow.core.flow.rtt.min, BASE_US, "1 us was a lie");
    flow.now_us += BASE_US;
    let honest = flow.ack(2, flow.delivered, BASE_US - 1000);
    flow.core.on_ack(&honest);
    assert_eq!(flow.core.flow.rtt.min, BASE_US - 1000);
}

/// A flow whose RTT is the round's own, as a deadline still lies ahead.
fn freed() -> Feeder {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 1.0 / 48.0);
    let freed = Ack {
        held_us: 900_000,
        ..flow.ack(2, flow.delivered, BASE_US)
    };
    assert!(flow.core.on_ack(&freed).now);
    flow
}

#[test]
fn a_pause_is_no_rtt() {
    let mut flow = freed();
    let smoothed = flow.core.flow.rtt.smoothed;
    flow.now_us += 60_000_000;
    let after = flow.ack(2, flow.delivered, 0);
    flow.core.on_ack(&after);
    assert_eq!(flow.core.flow.rtt.smoothed, smoothed);
}

#[test]
fn a_round_that_a_retransmission_ends_is_no_rtt() {
    let mut flow = freed();
    flow.now_us += BASE_US / 8;
    let spurious = Ack {
        held_us: 900_000,
        flags: RETRANSMITTED,
        ..flow.ack(2, flow.delivered, 0)
    };
    flow.core.on_ack(&spurious);
    assert_eq!(flow.core.flow.rtt.min, BASE_US);
}

#[test]
fn a_hole_in_the_window_is_no_licence_for_a_burst() {
    let mut flow = forced(64.0);
    flow.core.recovery(Recovery::Reduced);
    let ack = Ack {
        in_flight: 5,
        ..flow.ack(2, flow.delivered.wrapping_sub(1), BASE_US)
    };
    assert_eq!(flow.core.on_ack(&ack).cwnd, 7);
}

/// A flow of 100 segments whose smoothed RTT holds a queue of three seconds.
fn bloated() -> Feeder {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 100.0);
    flow.core.flow.rtt.smoothed = 3_000_000;
    flow
}

#[test]
fn after_a_timeout_no_queue_of_before_paces() {
    let mut flow = bloated();
    flow.core.recovery(Recovery::Timeout);
    let first = Ack {
        flags: RETRANSMITTED,
        in_flight: 0,
        ..flow.ack(1, flow.delivered, 0)
    };
    let send = flow.core.on_ack(&first);
    assert_eq!(flow.window(), 2.0, "slow start");
    assert!(
        pair_gap_us(send.rate) < 1.1 * f64::from(BASE_US),
        "or the next timeout is there first: {}",
        send.rate
    );
    assert!(flow.core.flow.rtt.smoothed > 2_000_000, "Karn");
}

/// 4 MB in a token bucket had taken the window to 1/48.
#[test]
fn what_was_sent_before_a_timeout_is_not_judged_after_it() {
    let mut flow = bloated();
    flow.core.recovery(Recovery::Timeout);
    let (repairs, before) = (flow.delivered, flow.core.flow.win.ssthresh);
    for _ in 0..200 {
        let old = flow.ack(1, repairs.wrapping_sub(50), 3_000_000);
        flow.core.on_ack(&old);
    }
    let repaired = Ack {
        flags: RETRANSMITTED,
        ..flow.ack(1, repairs, 0)
    };
    flow.core.on_ack(&repaired);
    assert_eq!(flow.core.flow.win.ssthresh, before);
}

#[test]
fn a_lone_segments_rtt_counts_where_the_smoothed_one_is_of_another_time() {
    for (rtt_us, counts) in [(1_400_000, true), (1_600_000, false)] {
        let mut flow = bloated();
        let lone = Ack {
            in_flight: 0,
            ..flow.ack(1, flow.delivered.wrapping_sub(1), rtt_us)
        };
        flow.core.on_ack(&lone);
        assert_eq!(flow.core.flow.rtt.smoothed < 3_000_000, counts, "{rtt_us}");
    }
}
