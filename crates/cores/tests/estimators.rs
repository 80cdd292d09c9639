// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Path estimates of the paper's TCP Nice and of netnice: base RTT, buffer, a packet's time at the bottleneck, and a path
//! that became longer.

use netnice_cores::decision::{explained, packet_after, Report};
use netnice_cores::{Ack, Algorithm, Param, Recovery, ONE};

use crate::feed::{base_after, Feeder, BASE_US};
use crate::known_misses::plateau;
use crate::path::MS;

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

/// The limit after a loss whose round met a queue as long as this, and after a later sample of another; percent of the base.
fn limit_after_a_loss(queue_us: u32, later_us: u32) -> u32 {
    let mut flow = Feeder::at(Algorithm::Netnice, &[(Param::Threshold, 50)], 16.0);
    flow.core.flow.round.max_rtt = BASE_US + queue_us;
    flow.core.recovery(Recovery::Reduced);
    flow.core.recovery(Recovery::Open);
    flow.mixed_round(&[(2, BASE_US + later_us)]);
    flow.core.rtt_limit() - BASE_US
}

/// In units of 64 us.
#[test]
fn netnice_learns_a_small_buffer_from_losses() {
    assert_eq!(limit_after_a_loss(BASE_US / 3, 0), BASE_US / 3 / 64 * 64 / 2);
    assert_eq!(
        limit_after_a_loss(0, 0),
        BASE_US / 4 / 64 * 64 / 2,
        "a quarter of the base at least"
    );
    assert_eq!(limit_after_a_loss(2 * BASE_US, 0), BASE_US / 2, "the base at most");
}

#[test]
fn a_longer_queue_lengthens_it_by_an_eighth() {
    let (lost, queue) = (BASE_US / 3 / 64, BASE_US / 64);
    let longer = lost + (queue - lost) / 8 + 1;
    assert_eq!(limit_after_a_loss(BASE_US / 3, BASE_US), longer * 64 / 2);
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

const WIRE_US: u32 = 12_000; // 1500 bytes at 1 Mbit/s

/// Longer than what came before was on the wire.
const PAUSE_US: u32 = 4 * WIRE_US;

/// A flow over a slow bottleneck; `acks`: how long after the one before each came, and how many segments it was for. They left
/// together, so each met the queue of those before, up to a 0, which begins anew after a pause.
fn burst(acks: &[(u32, u32)]) -> Feeder {
    let mut flow = Feeder::fresh(Algorithm::Netnice, &[]);
    let mut rtt_us = BASE_US;
    for &(after_us, acked) in acks {
        rtt_us = if after_us == 0 { BASE_US } else { rtt_us + after_us };
        flow.now_us += if after_us == 0 { BASE_US + PAUSE_US } else { after_us };
        let sent = flow.delivered.wrapping_sub(1);
        let ack = flow.ack(acked, sent, rtt_us);
        flow.core.on_ack(&ack);
    }
    flow
}

/// The queue that is no congestion, in segments, once an ACK after a pause has ended the round.
fn tolerated(mut flow: Feeder) -> f64 {
    flow.now_us += BASE_US + PAUSE_US;
    let ack = flow.ack(2, flow.delivered, BASE_US);
    flow.core.on_ack(&ack);
    f64::from(flow.core.rtt_limit() - BASE_US) / f64::from(WIRE_US)
}

/// So many segments: a sample moves the estimate by a sixteenth down, or a thirty-second up.
fn assert_tolerates(flow: Feeder, segments: f64) {
    let (found, range) = (tolerated(flow), segments * 15.0 / 16.0..=segments * 33.0 / 32.0 + 0.02);
    assert!(range.contains(&found), "{found}");
}

#[test]
fn the_own_queue_at_a_slow_bottleneck_is_no_congestion() {
    const { assert!(10 * WIRE_US > BASE_US, "ten segments, or six of a slow line") };
    assert_tolerates(burst(&[(0, 1), (WIRE_US, 1)]), 6.0);
    assert_tolerates(burst(&[(0, 1), (WIRE_US, 1), (WIRE_US, 1)]), 6.0);
    assert_tolerates(burst(&[(0, 2), (2 * WIRE_US, 2)]), 6.0);
}

#[test]
fn after_a_loss_it_is_a_packets() {
    let mut flow = burst(&[(0, 1), (WIRE_US, 1), (WIRE_US, 1)]);
    flow.core.recovery(Recovery::Reduced);
    assert_tolerates(flow, 1.0);
}

#[test]
fn segments_that_left_apart_tell_nothing() {
    let mut flow = burst(&[(0, 1)]);
    flow.now_us += WIRE_US;
    let ack = flow.ack(1, 0, BASE_US);
    flow.core.on_ack(&ack);
    assert_eq!(flow.core.rtt_limit(), BASE_US + BASE_US * 36 / 100);
}

#[test]
fn a_compressed_ack_shortens_it_by_a_sixteenth() {
    let before = tolerated(burst(&[(0, 1), (WIRE_US, 1)]));
    let after = tolerated(burst(&[(0, 1), (WIRE_US, 1), (300, 1)]));
    assert!((after - before * 15.0 / 16.0).abs() < 0.02, "{before} {after}");
}

#[test]
fn a_delayed_ack_is_no_service_time() {
    let mut acks = vec![];
    acks.extend([(0, 2), (2 * WIRE_US, 2)].repeat(6));
    let before = tolerated(burst(&acks));
    acks.push((40_000, 1));
    assert_eq!(tolerated(burst(&acks)), before);
}

#[test]
fn nor_is_that_of_the_last_segment_of_a_young_flows_burst() {
    let mut flow = burst(&[(0, 2)]);
    flow.now_us += 40_000;
    let sent = flow.delivered.wrapping_sub(1);
    let delayed = Ack {
        in_flight: 0,
        ..flow.ack(1, sent, BASE_US + 40_000)
    };
    flow.core.on_ack(&delayed);
    assert_eq!(tolerated(flow), tolerated(burst(&[(0, 2)])));
}

#[test]
fn a_packet_takes_what_two_thirds_of_the_pairs_are_apart() {
    let after = |spacings: &[u32]| spacings.iter().fold(0, |known, s| packet_after(known, *s, 0, 1_200, 1));
    assert_eq!(after(&[75]), 75);
    let jitter: Vec<u32> = (0..600).map(|i| 60 + i * 7 % 31).collect();
    assert!((65..=73).contains(&after(&jitter)), "{}", after(&jitter));
    let small: Vec<u32> = [1].into_iter().chain([75; 100]).collect();
    assert!(
        (70..=77).contains(&after(&small)),
        "one of a small segment is forgotten"
    );
    assert_eq!(packet_after(75, 20, 400, 1_200, 1), 75, "they left apart");
}

#[test]
fn a_flow_explains_the_part_of_the_queue_that_it_has_of_the_path() {
    // 20 segments of 500 us use a quarter of 44 ms
    let report = Report {
        base: 40_000,
        queue: 4_000,
        packet: 500,
        siblings: 1,
        ..Report::default()
    };
    assert_eq!(explained(&report, 20 * ONE), 909 + 250);
    assert_eq!(explained(&Report { siblings: 4, ..report }, 20 * ONE), 3_636 + 250);
    let unknown = Report { packet: 0, ..report };
    assert_eq!(
        explained(&unknown, 20 * ONE),
        u32::MAX,
        "all, if a packet's time is unknown"
    );
    assert_eq!(explained(&unknown, ONE / 2), 0);
}

#[test]
fn round_trips_of_two_seconds_and_more_do_not_stand_still() {
    for gap_us in [0, 400 * MS] {
        let moving = (0..40).map(|n| 2_200 * MS + n % 4 * 300 * MS);
        assert_eq!(base_after(Algorithm::Netnice, gap_us, moving), BASE_US);
    }
}

/// With the gaps of a flow below one segment it still is: a known miss.
#[test]
fn a_plateau_of_cubics_met_round_by_round_is_no_longer_way() {
    assert_eq!(base_after(Algorithm::Netnice, 0, plateau()), BASE_US);
}

#[test]
fn a_queue_that_stands_still_for_twelve_rounds_and_five_seconds_is_tried_as_the_path() {
    let after = |gap_us: u32, rounds: u32| base_after(Algorithm::Netnice, gap_us, (0..rounds).map(|_| 120 * MS));
    let tried = BASE_US + 100 * MS / 64 * 64;
    // Rounds of 520 ms: the twelfth ends 5.7 s after the first.
    assert_eq!((after(400 * MS, 11), after(400 * MS, 12)), (BASE_US, tried));
    // Rounds of 170 ms: 5 s take thirty.
    assert_eq!((after(50 * MS, 29), after(50 * MS, 32)), (BASE_US, tried));
}
