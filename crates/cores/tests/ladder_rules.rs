// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The levels below Nice: what each keeps, when it leaves, that siblings share, and delays that move by themselves (jitter,
//! bunched ACKs, a way that became longer).

use approx::assert_abs_diff_eq;
use netnice_cores::{Algorithm, Core, Param, Siblings, ONE};

use crate::feed::{Feeder, BASE_US};

/// The feeder spreads 16 segments over a base RTT: the packet time that a full window shows.
const PACKET_US: u32 = BASE_US / 16;
/// Above every band: 1/4 and 5/8 packet, 0.5 and 0.6 ms.
const LONG_US: u32 = BASE_US + PACKET_US + 4_000;

fn flow(level: Algorithm) -> Feeder {
    let mut flow = Feeder::at(level, &[], 16.0);
    flow.round(BASE_US);
    flow.set_window(16.0);
    flow
}

#[test]
fn an_empty_queue_lets_it_grow_by_add() {
    for (level, add) in [(Algorithm::Netnice1, 0.25), (Algorithm::Netnice2, 0.03125)] {
        let mut flow = flow(level);
        flow.round(BASE_US);
        assert_eq!(flow.window(), 16.0 + add, "{level:?}");
    }
}

#[test]
fn growth_doubles_when_the_queue_stays_empty() {
    let mut flow = flow(Algorithm::Netnice1);
    let mut growth = 0.0;
    for _ in 0..12 {
        let before = flow.window();
        flow.round(BASE_US);
        growth = flow.window() - before;
    }
    assert!(growth >= 0.99, "{growth}");
}

#[test]
fn the_lower_level_leaves_a_queue_that_the_upper_keeps() {
    let rtt = BASE_US + PACKET_US + 650;
    let (mut one, mut two) = (flow(Algorithm::Netnice1), flow(Algorithm::Netnice2));
    one.round(rtt);
    two.round(rtt);
    assert!(one.window() > 16.0, "{}", one.window());
    assert!(two.window() < 16.0, "{}", two.window());
}

#[test]
fn the_first_cut_takes_ones_own_share_and_waits() {
    let mut flow = flow(Algorithm::Netnice1);
    flow.round(LONG_US);
    let share = 16.0 * 20.0 / 24.0;
    let expected = share * (1.0 - 1.0 / 32.0);
    assert_abs_diff_eq!(flow.window(), expected, epsilon = 0.01);
    let cut = flow.window();
    flow.round(LONG_US);
    assert_eq!(flow.window(), cut, "it did not wait for the cut to show");
}

#[test]
fn a_queue_that_survives_the_soft_cuts_is_a_higher_levels() {
    for (level, soft) in [(Algorithm::Netnice1, 4), (Algorithm::Netnice2, 2)] {
        let mut flow = flow(level);
        flow.core.flow.win.w = 400 * ONE;
        flow.core.flow.win.ssthresh = 400 * ONE;
        for cut in 0..soft + 1 {
            let before = flow.window();
            flow.round(LONG_US);
            let kept = flow.window() / before;
            assert_eq!(kept < 0.2, cut == soft, "{level:?}, cut {cut} kept {kept}");
            flow.round(LONG_US);
        }
    }
}

#[test]
fn below_one_segment_a_pair_decides() {
    let mut one = flow(Algorithm::Netnice1);
    one.set_window(0.125);
    one.round(LONG_US);
    assert!(one.window() <= 1.0 / 64.0, "{}", one.window());
    one.round(LONG_US);
    assert_eq!(one.window(), 1.0 / 128.0, "the floor");
    for expected in [128.0, 128.0, 32.0, 8.0] {
        one.round(BASE_US);
        assert_eq!(one.window(), 1.0 / expected);
    }
    let mut two = flow(Algorithm::Netnice2);
    two.set_window(0.125);
    two.round(LONG_US);
    let low = two.window();
    for growth in [1.0, 1.0, 2.0, 2.0] {
        let before = two.window();
        two.round(BASE_US);
        assert_eq!(two.window(), before * growth, "from {low}");
    }
}

fn siblings(flows: u32, window: u32) -> Option<Siblings> {
    Some(Siblings {
        flows,
        window,
        ..Siblings::default()
    })
}

#[test]
fn siblings_give_back_what_is_above_their_mean_and_none_is_raised() {
    let mut windows = [30.0, 4.0, 2.0];
    for _ in 0..60 {
        let mean = windows.iter().sum::<f64>() / 3.0;
        for w in &mut windows {
            let mut flow = flow(Algorithm::Netnice1);
            flow.core = flow.core.clone().with(Param::Add, 0);
            flow.set_window(*w);
            flow.now_us += 10;
            let ack = flow.ack(2, flow.delivered, 0);
            flow.core.siblings = siblings(3, (mean * f64::from(ONE)) as u32);
            flow.core.on_ack(&ack);
            *w = flow.window();
        }
        assert!(
            windows[1] >= 3.0 && windows[1] <= 4.0 && windows[2] == 2.0,
            "{windows:?}"
        );
    }
    // Where 3 is an eighth above the mean of 3, 3 and 2.
    assert!(windows[0] < 3.3, "{windows:?}");
}

#[test]
fn a_change_of_level_keeps_base_and_window() {
    let mut core = Core::new(Algorithm::Netnice2, 1_000_000, 90_000);
    core.resume(20_000, 40);
    assert_eq!(core.flow.rtt.min, 20_000);
    assert_eq!(core.window(), 40 * ONE);
    assert_eq!(core.flow.win.ssthresh, 40 * ONE, "no slow start from there");
    let mut fresh = Core::new(Algorithm::Netnice2, 1_000_000, 90_000);
    let first = fresh.window();
    fresh.resume(20_000, 10);
    assert_eq!(fresh.window(), first, "a hand-over's least window is not the flow's");
}

/// The window after forty pairs of one of sixteen flows with half a segment each, of which every `nth` meets a queue.
fn in_a_crowd(nth: u32, flows: u32) -> f64 {
    let mut flow = Feeder::at(Algorithm::Netnice1, &[], 64.0);
    flow.round(BASE_US);
    flow.set_window(0.5);
    let packet = BASE_US / 64;
    for pair in 0..40 {
        flow.core.siblings = siblings(flows, flow.core.window());
        let met = pair % nth == 0;
        flow.round(BASE_US + packet + if met { 2 * packet + 600 } else { 0 });
    }
    flow.window()
}

#[test]
fn pairs_of_siblings_meet_by_chance_and_a_level_above_is_met_always() {
    assert!(in_a_crowd(3, 16) > 1.0, "every third: siblings {}", in_a_crowd(3, 16));
    assert!(
        in_a_crowd(2, 1) < 0.1,
        "alone, half of the pairs are too many {}",
        in_a_crowd(2, 1)
    );
    assert!(in_a_crowd(1, 16) < 0.1, "always: somebody above {}", in_a_crowd(1, 16));
}

const LEVELS: [Algorithm; 2] = [Algorithm::Netnice1, Algorithm::Netnice2];
/// The feeder spreads 32 segments over a base RTT: a path of 32.
const WIDE_PACKET_US: u32 = BASE_US / 32;
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
fn wide(level: Algorithm) -> Feeder {
    let mut flow = Feeder::at(level, &[], 32.0);
    flow.round(BASE_US);
    flow.set_window(32.0);
    flow
}

/// A round whose ACKs have up to `jitter_us` more than the empty path's RTT each.
fn jittery_round(flow: &mut Feeder, dice: &mut Dice, jitter_us: u32) {
    let parts: Vec<(u32, u32)> = (0..flow.segments() / 2)
        .map(|_| (2, BASE_US + WIDE_PACKET_US + dice.below(jitter_us)))
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
        pair(flow, BASE_US + WIDE_PACKET_US + dice.below(jitter_us));
        if flow.window() >= 2.0 {
            return count;
        }
    }
    panic!("no look in 100 pairs");
}

fn sub_packet(level: Algorithm) -> Feeder {
    let mut flow = wide(level);
    flow.set_window(1.0 / 128.0);
    flow
}

#[test]
fn jitter_alone_takes_no_window() {
    for level in LEVELS {
        for jitter_us in [2_000, 4_000] {
            let (mut flow, mut dice) = (wide(level), Dice(1));
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
        let (mut flow, mut dice) = (wide(level), Dice(1));
        for _ in 0..200 {
            jittery_round(&mut flow, &mut dice, 2_000);
            flow.set_window(32.0);
        }
        for _ in 0..20 {
            let parts: Vec<(u32, u32)> = (0..flow.segments() / 2)
                .map(|_| (2, BASE_US + WIDE_PACKET_US + 4_000 + dice.below(2_000)))
                .collect();
            flow.mixed_round(&parts);
        }
        assert!(flow.window() < 1.0, "{level:?} kept {}", flow.window());
    }
}

#[test]
fn a_steady_path_leaves_no_room_for_noise() {
    let mut flow = wide(Algorithm::Netnice1);
    for _ in 0..50 {
        flow.round(BASE_US + WIDE_PACKET_US);
        flow.set_window(32.0);
    }
    flow.round(BASE_US + WIDE_PACKET_US + 700);
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
                flow.round(BASE_US + WIDE_PACKET_US + 3_000);
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
            pair(&mut flow, BASE_US + WIDE_PACKET_US + 2_500 + dice.below(9_000));
            assert!(flow.window() < 1.0, "{level:?}");
        }
    }
}

#[test]
fn a_longer_way_is_learnt_within_a_minute() {
    for level in LEVELS {
        let mut flow = wide(level);
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
    let mut flow = wide(Algorithm::Netnice1);
    flow.round(BASE_US + 30_000);
    let packet = |flow: &Feeder| flow.core.flow.own[0];
    let before = packet(&flow);
    assert!(before > 0);
    // The shorter way's first ACKs come together with the longer way's last: each had less of the way to go.
    for i in 1..8 {
        flow.now_us += 5;
        let ack = flow.ack(2, flow.delivered.wrapping_sub(40), BASE_US + 29_000 - i * 1_000);
        flow.core.on_ack(&ack);
    }
    assert_eq!(packet(&flow), before);
}

#[test]
fn a_standing_queue_is_not_taken_for_the_jitter_of_long_ago() {
    for level in LEVELS {
        let (mut flow, mut dice) = (wide(level), Dice(3));
        for _ in 0..50 {
            jittery_round(&mut flow, &mut dice, 4_000);
            flow.set_window(32.0);
        }
        flow.set_window(5.0);
        for _ in 0..60 {
            flow.round(BASE_US + 4 * WIDE_PACKET_US);
        }
        assert!(flow.window() < 1.0, "{level:?}: {}", flow.window());
    }
}
