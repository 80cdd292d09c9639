// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The levels below Nice where delays move by themselves: jitter, bunched ACKs, a way that became longer.

mod feed;

use feed::{Feeder, BASE_US};
use netnice_cores::Algorithm;

const LEVELS: [Algorithm; 2] = [Algorithm::Netnice1, Algorithm::Netnice2];
/// The feeder spreads 32 segments over a base RTT: a path of 32.
const PACKET_US: u32 = BASE_US / 32;
const SECOND: u32 = 1_000_000;
/// The longest silence of one flow alone.
const SILENCE: u32 = 2 * SECOND;

/// Numbers that look random and are the same each time.
struct Dice(u32);

impl Dice {
    fn below(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((u64::from(self.0) * u64::from(most)) >> 32) as u32
    }
}

/// A flow that fills a path of 32 segments and knows its packet time.
fn flow(level: Algorithm) -> Feeder {
    let mut flow = Feeder::at(level, &[], 32.0);
    flow.round(BASE_US);
    flow.set_window(32.0);
    flow
}

/// A round whose ACKs have up to `jitter_us` more than the empty path's RTT each.
fn jittery_round(flow: &mut Feeder, dice: &mut Dice, jitter_us: u32) {
    let parts: Vec<(u32, u32)> = (0..flow.segments() / 2)
        .map(|_| (2, BASE_US + PACKET_US + dice.below(jitter_us)))
        .collect();
    flow.mixed_round(&parts);
}

/// A pair after the longest silence.
fn pair(flow: &mut Feeder, rtt_us: u32) {
    flow.now_us = flow.now_us.wrapping_add(SILENCE);
    flow.mixed_round(&[(2, rtt_us)]);
}

/// Pairs until the flow looks; how many?
fn pairs_until_look(flow: &mut Feeder, dice: &mut Dice, jitter_us: u32) -> u32 {
    for count in 1..100 {
        pair(flow, BASE_US + PACKET_US + dice.below(jitter_us));
        if flow.window() >= 2.0 {
            return count;
        }
    }
    panic!("no look in 100 pairs");
}

fn sub_packet(level: Algorithm) -> Feeder {
    let mut flow = flow(level);
    flow.set_window(1.0 / 128.0);
    flow
}

#[test]
fn jitter_alone_takes_no_window() {
    for level in LEVELS {
        for jitter_us in [2_000, 4_000] {
            let (mut flow, mut dice) = (flow(level), Dice(1));
            let mut least = f64::MAX;
            for _ in 0..2_000 {
                jittery_round(&mut flow, &mut dice, jitter_us);
                flow.set_window(flow.window().min(32.0));
                least = least.min(flow.window());
            }
            assert!(least > 16.0, "{level:?}, {jitter_us} us: {least}");
        }
    }
}

#[test]
fn a_queue_behind_the_jitter_is_still_one() {
    for level in LEVELS {
        let (mut flow, mut dice) = (flow(level), Dice(1));
        for _ in 0..200 {
            jittery_round(&mut flow, &mut dice, 2_000);
            flow.set_window(32.0);
        }
        for _ in 0..20 {
            let parts: Vec<(u32, u32)> = (0..flow.segments() / 2)
                .map(|_| (2, BASE_US + PACKET_US + 4_000 + dice.below(2_000)))
                .collect();
            flow.mixed_round(&parts);
        }
        assert!(flow.window() < 1.0, "{level:?} kept {}", flow.window());
    }
}

#[test]
fn a_steady_path_leaves_no_room_for_noise() {
    let mut flow = flow(Algorithm::Netnice1);
    for _ in 0..50 {
        flow.round(BASE_US + PACKET_US);
        flow.set_window(32.0);
    }
    flow.round(BASE_US + PACKET_US + 700);
    assert!(flow.window() < 32.0, "{}", flow.window());
}

#[test]
fn who_is_sub_packet_in_jitter_looks_with_a_whole_round_and_stays() {
    for level in LEVELS {
        let (mut flow, mut dice) = (sub_packet(level), Dice(1));
        let pairs = pairs_until_look(&mut flow, &mut dice, 4_000);
        assert!(pairs <= 16, "{level:?} looked after {pairs} pairs");
        for _ in 0..20 {
            jittery_round(&mut flow, &mut dice, 4_000);
        }
        assert!(flow.window() >= 16.0, "{level:?} has {}", flow.window());
    }
}

#[test]
fn a_look_that_meets_a_queue_ends_at_the_floor_and_the_next_waits_longer() {
    for (level, floor) in [(Algorithm::Netnice1, 128.0), (Algorithm::Netnice2, 256.0)] {
        let (mut flow, mut dice) = (sub_packet(level), Dice(1));
        let mut pairs = Vec::new();
        for _ in 0..5 {
            pairs.push(pairs_until_look(&mut flow, &mut dice, 600));
            for _ in 0..3 {
                flow.round(BASE_US + PACKET_US + 3_000);
            }
            assert_eq!(flow.window(), 1.0 / floor, "{level:?}");
        }
        assert!(pairs[3] >= 2 * pairs[1], "{level:?}: {pairs:?}");
        assert!(pairs[4] <= 2 * 8, "{level:?}: {pairs:?}");
    }
}

#[test]
fn who_never_meets_an_empty_path_does_not_look() {
    for level in LEVELS {
        let (mut flow, mut dice) = (sub_packet(level), Dice(1));
        for _ in 0..200 {
            pair(&mut flow, BASE_US + PACKET_US + 2_500 + dice.below(9_000));
            assert!(flow.window() < 1.0, "{level:?}");
        }
    }
}

#[test]
fn a_longer_way_is_learnt_within_a_minute() {
    for level in LEVELS {
        let mut flow = flow(level);
        let (longer, began) = (BASE_US + 30_000, flow.now_us);
        while flow.core.flow.rtt.min < longer {
            if flow.window() < 1.0 {
                pair(&mut flow, longer);
            } else {
                flow.round(longer);
            }
            assert!(flow.now_us - began < 60 * SECOND, "{level:?}");
        }
        for _ in 0..3 {
            pair(&mut flow, longer);
        }
        assert!(flow.window() > 1.0 / 128.0, "{level:?} does not climb");
    }
}

#[test]
fn a_queue_that_moves_is_no_longer_way() {
    for level in LEVELS {
        let (mut flow, mut dice) = (sub_packet(level), Dice(1));
        let base = flow.core.flow.rtt.min;
        for _ in 0..120 {
            pair(&mut flow, BASE_US + 30_000 + dice.below(6_000));
        }
        assert_eq!(flow.core.flow.rtt.min, base, "{level:?}");
    }
}

#[test]
fn bunched_acks_do_not_shrink_the_packet() {
    let mut flow = flow(Algorithm::Netnice1);
    flow.round(BASE_US + 30_000);
    let packet = |flow: &Feeder| flow.core.flow.own[0];
    let before = packet(&flow);
    assert!(before > 0);
    // The shorter way's first ACKs come together with the longer way's last: each had less of the way to go.
    for i in 1..8 {
        flow.now_us += 5;
        let ack = flow.ack(
            2,
            flow.delivered.wrapping_sub(40),
            BASE_US + 29_000 - i * 1_000,
        );
        flow.core.on_ack(&ack);
    }
    assert_eq!(packet(&flow), before);
}

#[test]
fn a_standing_queue_is_not_taken_for_the_jitter_of_long_ago() {
    for level in LEVELS {
        let (mut flow, mut dice) = (flow(level), Dice(3));
        for _ in 0..50 {
            jittery_round(&mut flow, &mut dice, 4_000);
            flow.set_window(32.0);
        }
        flow.set_window(5.0);
        for _ in 0..60 {
            flow.round(BASE_US + 4 * PACKET_US);
        }
        assert!(flow.window() < 1.0, "{level:?}: {}", flow.window());
    }
}
