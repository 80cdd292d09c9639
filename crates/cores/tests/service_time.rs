// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The service time of a segment at the bottleneck, and what TCP Nice's limit makes of it.

mod feed;

use feed::{Feeder, BASE_US};
use netnice_cores::{Algorithm, Recovery};

const WIRE_US: u32 = 12_000; // 1500 bytes at 1 Mbit/s

/// Longer than what came before was on the wire.
const PAUSE_US: u32 = 4 * WIRE_US;

/// A flow over a slow bottleneck; `acks`: how long after the one before each came, and how many segments it was for. They left
/// together, so each met the queue of those before, up to a 0, which begins anew after a pause.
fn burst(acks: &[(u32, u32)]) -> Feeder {
    let mut flow = Feeder::fresh(Algorithm::Netnice, &[]);
    let mut rtt_us = BASE_US;
    for &(after_us, acked) in acks {
        rtt_us = if after_us == 0 {
            BASE_US
        } else {
            rtt_us + after_us
        };
        flow.now_us += if after_us == 0 {
            BASE_US + PAUSE_US
        } else {
            after_us
        };
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
