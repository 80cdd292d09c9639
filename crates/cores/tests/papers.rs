// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One test a rule: Reno (RFC 5681), Vegas as TCP Nice states it (section 2.1), the row `nice`, and Table I of TCP Nicer.
//! The row `nice` is sections 2.2 and 2.3, without the additions of netnice.

use approx::assert_abs_diff_eq;
use netnice_cores::{Ack, Algorithm, Core, Param, Recovery, Siblings, LONE, ONE};

use crate::feed::{Feeder, BASE_US, MSS};

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
fn slow_start_with_a_small_receiver_ends_at_four_times_its_window() {
    use Algorithm::{Netnice, Nice, Nicer1, Reno, Vegas};
    for algorithm in [Reno, Vegas, Nice, Nicer1, Netnice] {
        let mut core = Core::new(algorithm, 1_000_000, BASE_US);
        limited(&mut core, 20, 1_000);
        let window = core.window() / ONE;
        assert!((72..=80).contains(&window), "{algorithm:?}: {window}");
    }
}

#[test]
fn congestion_avoidance_with_a_small_receiver_ends_near_its_window() {
    let mut flow = Feeder::at(Algorithm::Reno, &[], 18.0);
    limited(&mut flow.core, 20, 10_000);
    assert!((20.0..29.0).contains(&flow.window()), "{}", flow.window());
}

/// A round's RTT that says `queued` own segments wait, at a window of `window`.
fn rtt_for(queued: f64, window: f64) -> u32 {
    (BASE_US as f64 / (1.0 - queued / window)).round() as u32
}

fn vegas(alpha: u32, beta: u32) -> Feeder {
    Feeder::at(Algorithm::Vegas, &[(Param::Alpha, alpha), (Param::Beta, beta)], 32.0)
}

#[test]
fn fewer_than_alpha_queued_grows_by_one() {
    let mut flow = vegas(1, 3);
    flow.round(rtt_for(0.5, 32.0));
    assert_eq!(flow.window(), 33.0);
}

#[test]
fn between_alpha_and_beta_stays() {
    let mut flow = vegas(1, 3);
    flow.round(rtt_for(2.0, 32.0));
    assert_eq!(flow.window(), 32.0);
}

#[test]
fn more_than_beta_queued_shrinks_by_one() {
    let mut flow = vegas(1, 3);
    flow.round(rtt_for(4.0, 32.0));
    assert_eq!(flow.window(), 31.0);
}

#[test]
fn never_below_two_by_delay() {
    let mut flow = vegas(0, 0);
    for _ in 0..40 {
        flow.round(4 * BASE_US);
    }
    assert_eq!(flow.window(), 2.0);
}

#[test]
fn grows_no_more_than_was_delivered() {
    let mut flow = vegas(1, 3);
    flow.mixed_round(&[(8, BASE_US)]);
    assert_eq!(flow.core.window(), 32 * ONE + ONE / 4);
}

#[test]
fn slow_start_leaves_at_gamma() {
    let mut flow = vegas(1, 3);
    flow.core.flow.win.ssthresh = u32::MAX;
    flow.round(BASE_US);
    assert_eq!(flow.window(), 64.0);
    flow.round(rtt_for(3.0, 128.0));
    let grown = flow.core.flow.win;
    assert_eq!(grown.w, grown.ssthresh);
    assert!(flow.window() < 128.0 && flow.window() > 100.0);
}

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
fn more_than_beta_queued_shrinks_nice_by_one() {
    let mut flow = nice(200.0);
    flow.round(BASE_US + BASE_US / 20);
    assert_eq!(flow.window(), 199.0);
}

#[test]
fn alpha_is_one_segment_and_beta_three() {
    for (queued, window) in [(0.9, 201.0), (1.1, 200.0), (2.9, 200.0), (3.1, 199.0)] {
        let mut flow = nice(200.0);
        flow.round(rtt_for(queued, 200.0));
        assert_eq!(flow.window(), window, "{queued} segments are queued");
    }
}

#[test]
fn a_queue_that_stands_from_the_start_is_no_congestion() {
    let mut flow = Feeder::fresh(Algorithm::Nice, &[]);
    for _ in 0..6 {
        let before = flow.window();
        flow.round(3 * BASE_US);
        assert!(flow.window() >= before, "{before} -> {}", flow.window());
    }
    assert_eq!(flow.core.flow.rtt.min, 3 * BASE_US);
    assert_eq!(flow.core.flow.rtt.max, 6 * BASE_US);
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
        asking: 7,
        policed: false,
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
    let pair = 2.0 * f64::from(MSS);
    let gap_us = pair / flow.last.rate as f64 * 1e6;
    let srtt = f64::from(flow.core.flow.rtt.smoothed);
    assert_abs_diff_eq!(gap_us / srtt, 16.0, epsilon = 0.1);
}

#[test]
fn below_one_segment_no_more_than_two_pairs_are_on_their_way() {
    for window in [1.9, 0.5, FLOOR] {
        let mut flow = nice(window);
        flow.round(2 * BASE_US);
        assert!(flow.window() < 1.0);
        assert_eq!(flow.last.cwnd, 4, "W = {}", flow.window());
    }
}

const LEVELS: [Algorithm; 3] = [Algorithm::Nicer0, Algorithm::Nicer1, Algorithm::Nicer2];

fn flow(level: Algorithm) -> Feeder {
    Feeder::at(level, &[], 16.0)
}

#[test]
fn mul_is_of_half_the_window_and_one_round_late() {
    for (level, left) in LEVELS.into_iter().zip([14.0, 4.0, 0.8]) {
        let mut flow = flow(level);
        flow.round(BASE_US * 13 / 10);
        assert_eq!(flow.window(), 16.0, "{level:?} cut in the first congested round");
        flow.round(BASE_US * 13 / 10);
        assert_abs_diff_eq!(flow.window(), left, epsilon = 0.01);
    }
}

#[test]
fn a_clear_round_between_forgives_the_first() {
    let mut flow = flow(Algorithm::Nicer1);
    flow.round(BASE_US * 13 / 10);
    flow.round(BASE_US);
    flow.round(BASE_US * 13 / 10);
    assert!(flow.window() >= 16.0);
}

#[test]
fn add_is_the_growth_of_a_round() {
    for (level, add) in LEVELS.into_iter().zip([1.0, 0.2, 0.1]) {
        let mut flow = flow(level);
        flow.round(BASE_US);
        assert_abs_diff_eq!(flow.window(), 16.0 + add, epsilon = 0.001);
    }
}

#[test]
fn thresh_is_a_part_of_the_base_rtt() {
    for (level, thresh) in LEVELS.into_iter().zip([110, 120, 120]) {
        let limit = BASE_US * thresh / 100;
        for (rtt, cut) in [(limit, false), (limit + 50, true)] {
            let mut flow = flow(level);
            flow.round(rtt);
            flow.round(rtt);
            assert_eq!(flow.window() < 14.5, cut, "{level:?} at {rtt} us: {}", flow.window());
        }
    }
}

#[test]
fn frac_of_the_segments_must_be_slow() {
    for (level, few, many) in [
        (Algorithm::Nicer0, 14, 16),
        (Algorithm::Nicer1, 4, 6),
        (Algorithm::Nicer2, 0, 2),
    ] {
        for (slow, cut) in [(few, false), (many, true)] {
            let mut flow = flow(level);
            for _ in 0..2 {
                flow.mixed_round(&[(slow, BASE_US * 2), (16 - slow, BASE_US)]);
            }
            assert_eq!(flow.window() < 14.5, cut, "{level:?}, {slow} of 16: {}", flow.window());
        }
    }
}
