// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Base and worst RTT, and the service time of a segment at the bottleneck: by TCP Nice as the paper has it, and by netnice.

use netnice_cores::{Algorithm, Recovery, Siblings};

use crate::feed::{Feeder, BASE_US};

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
    assert!(max > 2 * BASE_US && max <= 2 * BASE_US + BASE_US / 8 + 1, "{max}");
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
    assert!(max < full + BASE_US / 10 && max >= BASE_US + BASE_US / 4, "{max}");
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
    assert_eq!(told(20 * BASE_US, 0, false), guess, "it has seen less itself");
    assert_eq!(told(BASE_US, 0, false), guess, "another place");
    assert_eq!(told(0, 0, false), guess, "nobody told");
    assert_eq!(told(2 * BASE_US, 9_000_000, false), guess, "too old to guess");
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

/// The queue that is no congestion, in segments.
fn tolerated(flow: &Feeder) -> f64 {
    f64::from(flow.core.rtt_limit() - BASE_US) / f64::from(WIRE_US)
}

/// So many segments, or a little less, by the estimate's unit.
fn assert_tolerates(flow: &Feeder, segments: f64) {
    let (found, range) = (tolerated(flow), segments * 0.9625..=segments);
    assert!(range.contains(&found), "{found}");
}

#[test]
fn the_own_queue_at_a_slow_bottleneck_is_no_congestion() {
    let flow = burst(&[(0, 1), (WIRE_US, 1), (WIRE_US, 1)]);
    assert_tolerates(&flow, 9.0);
}

#[test]
fn after_a_loss_it_is_that_of_a_pair() {
    let mut flow = burst(&[(0, 1), (WIRE_US, 1), (WIRE_US, 1)]);
    flow.core.recovery(Recovery::Reduced);
    assert_tolerates(&flow, 2.0);
}

#[test]
fn segments_that_left_apart_tell_nothing() {
    let mut flow = burst(&[(0, 1)]);
    flow.now_us += WIRE_US;
    let ack = flow.ack(1, 0, BASE_US);
    flow.core.on_ack(&ack);
    assert_eq!(flow.core.rtt_limit(), BASE_US + BASE_US * 30 / 100);
}

#[test]
fn one_sample_is_not_enough() {
    let flow = burst(&[(0, 1), (WIRE_US, 1)]);
    assert_eq!(flow.core.rtt_limit(), BASE_US + BASE_US * 30 / 100);
}

#[test]
fn a_compressed_ack_is_forgotten_again() {
    let mut acks = vec![(0, 1), (WIRE_US, 1), (WIRE_US, 1), (300, 1)];
    assert!(tolerated(&burst(&acks)) < 5.0);
    acks.extend([(0, 2), (2 * WIRE_US, 2)].repeat(40));
    assert!(tolerated(&burst(&acks)) > 7.4);
}

#[test]
fn a_delayed_ack_is_no_service_time() {
    let mut acks = vec![];
    acks.extend([(0, 2), (2 * WIRE_US, 2)].repeat(6));
    let before = burst(&acks).core.rtt_limit();
    acks.push((40_000, 1));
    assert_eq!(burst(&acks).core.rtt_limit(), before);
}

#[test]
fn it_is_no_longer_than_a_segments_part_of_a_round() {
    let mut flow = burst(&[(0, 1), (WIRE_US, 1), (WIRE_US, 1)]);
    assert!(tolerated(&flow) > 7.0);
    let mut sent = flow.delivered;
    for _ in 0..6 {
        let next = flow.delivered;
        for _ in 0..10 {
            flow.now_us += BASE_US / 10;
            let ack = flow.ack(2, sent, BASE_US);
            flow.core.on_ack(&ack);
        }
        sent = next;
    }
    assert!(tolerated(&flow) < 1.0);
}
