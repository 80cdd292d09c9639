// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The levels 0, 1 and 2: what each keeps of a queue, and delays that move by themselves (jitter, a way that became longer).

use approx::assert_abs_diff_eq;
use netnice_cores::decision::{limit, Report, Rules};
use netnice_cores::{Algorithm, Siblings, ONE};

use crate::decision::{clear, RULES};
use crate::feed::{Feeder, BASE_US, LEVELS, MSS};
use crate::path::SECOND;

/// Limits on a path of 20 ms: 36 % of the base, or twice the timer noise of 350 and 120 us.
const LIMITS_US: [u32; 3] = [7_200, 700, 240];
/// And where a packet takes 960 us, which is a multiple of the estimate's 16: 10, 3 and 26/16 packets.
const PACKET_US: u32 = 960;
const PACKET_LIMITS_US: [u32; 3] = [9_600, 2_880, 1_560];

fn flow(level: Algorithm) -> Feeder {
    Feeder::at(level, &[], 32.0)
}

#[test]
fn the_first_limit_is_that_of_the_base_and_the_floor() {
    for (level, limit) in LEVELS.into_iter().zip(LIMITS_US) {
        assert_eq!(flow(level).core.rtt_limit() - BASE_US, limit, "{level:?}");
    }
}

#[test]
fn a_pair_tells_a_packets_time_and_the_lower_level_bears_fewer() {
    for (level, limit) in LEVELS.into_iter().zip(PACKET_LIMITS_US) {
        let mut flow = flow(level);
        for (after_us, behind) in [(BASE_US, 0), (PACKET_US, 1)] {
            flow.now_us += after_us;
            let ack = flow.ack(1, flow.delivered, BASE_US + behind * PACKET_US);
            flow.core.on_ack(&ack);
        }
        assert_eq!(flow.core.rtt_limit() - BASE_US, limit, "{level:?}");
    }
}

#[test]
fn the_lower_level_leaves_a_queue_that_the_upper_keeps() {
    for (place, queue) in [(1, LIMITS_US[1]), (2, LIMITS_US[2])] {
        let (mut upper, mut lower) = (flow(LEVELS[place - 1]), flow(LEVELS[place]));
        upper.round(BASE_US + queue + 1);
        lower.round(BASE_US + queue + 1);
        assert!(upper.window() > 32.0, "{}", upper.window());
        assert!(lower.window() < 32.0, "{}", lower.window());
    }
}

/// Of 32 segments 1.95, 0.93 or 0.21 wait: level 0 grows below 2, level 1 below 1, level 2 below 0.25.
#[test]
fn the_lower_level_keeps_fewer_segments_queued() {
    for (queue, grow) in [(1_300, 1), (600, 2), (130, 3)] {
        for (place, level) in LEVELS.into_iter().enumerate() {
            let mut flow = flow(level);
            flow.round(BASE_US + queue);
            assert_eq!(flow.window() > 32.0, place < grow, "{level:?}, {queue} us");
        }
    }
}

/// Together they add 10, 3 and 26/16 packets a round, and each one at most.
#[test]
fn the_lower_level_grows_no_faster() {
    for (flows, steps) in [(1, [1.0, 1.0, 1.0]), (4, [1.0, 0.75, 6.5 / 16.0])] {
        for (level, step) in LEVELS.into_iter().zip(steps) {
            let mut flow = flow(level);
            flow.core.siblings = Some(Siblings {
                flows,
                window: 32 * ONE,
                ..Siblings::default()
            });
            flow.round(BASE_US);
            assert_abs_diff_eq!(flow.window() - 32.0, step, epsilon = 0.001);
        }
    }
}

/// At the least window of 1/48 a pair leaves every 96 round trips: 9.6 s, but for the longest silence.
#[test]
fn the_lower_level_asks_less_often_below_one_segment() {
    for (level, gap_s) in LEVELS.into_iter().zip([0.4, 2.0, 4.0]) {
        let mut flow = flow(level);
        flow.set_window(1.0 / 48.0);
        flow.core.flow.rtt.smoothed = 100_000;
        let ack = flow.ack(2, flow.delivered.wrapping_sub(1), 100_000);
        let rate = flow.core.on_ack(&ack).rate;
        assert_abs_diff_eq!(2.0 * f64::from(MSS) / rate as f64, gap_s, epsilon = 0.01);
    }
}

/// Numbers that look random and are the same each time.
struct Dice(u32);

impl Dice {
    fn below(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((u64::from(self.0) * u64::from(most)) >> 32) as u32
    }
}

/// A round whose ACKs have up to `jitter_us` more than this RTT each.
fn jittery_round(flow: &mut Feeder, dice: &mut Dice, rtt_us: u32, jitter_us: u32) {
    let acks = flow.segments() / 2;
    let parts: Vec<(u32, u32)> = (0..acks).map(|_| (2, rtt_us + dice.below(jitter_us))).collect();
    flow.mixed_round(&parts);
}

#[test]
fn jitter_alone_takes_no_window() {
    for level in LEVELS {
        for jitter_us in [500, 1_000, 2_000, 4_000] {
            let (mut flow, mut dice) = (flow(level), Dice(1));
            let mut least = f64::MAX;
            for _ in 0..2_000 {
                jittery_round(&mut flow, &mut dice, BASE_US, jitter_us);
                flow.set_window(flow.window().min(32.0));
                least = least.min(flow.window());
            }
            assert!(least > 16.0, "{level:?}, {jitter_us} us: {least}");
        }
    }
}

#[test]
fn a_queue_behind_the_jitter_is_still_one() {
    for (level, limit) in LEVELS.into_iter().zip(LIMITS_US) {
        let (mut flow, mut dice) = (flow(level), Dice(1));
        for _ in 0..200 {
            jittery_round(&mut flow, &mut dice, BASE_US, 2_000);
            flow.set_window(32.0);
        }
        for _ in 0..20 {
            jittery_round(&mut flow, &mut dice, BASE_US + 2 * limit + 6_000, 2_000);
        }
        assert!(flow.window() < 1.0, "{level:?} kept {}", flow.window());
    }
}

#[test]
fn a_longer_way_is_learnt_within_a_minute() {
    for level in LEVELS {
        let mut flow = flow(level);
        let (longer, began) = (BASE_US + 30_000, flow.now_us);
        while flow.core.flow.rtt.min < longer - 64 {
            flow.now_us += if flow.window() < 1.0 { 2 * SECOND } else { 0 };
            flow.round(longer);
            assert!(flow.now_us - began < 60 * SECOND, "{level:?}");
        }
        for _ in 0..3 {
            flow.round(longer);
        }
        assert!(flow.window() > 1.0, "{level:?} does not return");
    }
}

#[test]
fn a_queue_that_moves_is_no_longer_way() {
    for level in LEVELS {
        let (mut flow, mut dice) = (flow(level), Dice(1));
        for _ in 0..120 {
            flow.set_window(1.0 / 48.0);
            flow.now_us += 2 * SECOND;
            flow.round(BASE_US + 30_000 + dice.below(6_000));
        }
        assert_eq!(flow.core.flow.rtt.min, BASE_US, "{level:?}");
        assert!(flow.window() < 1.0, "{level:?}");
    }
}

#[test]
fn the_limit_is_the_largest_of_three() {
    let of = |report: Report| limit(&RULES, &report);
    assert_eq!(of(clear()), 10_800, "27 % of the base");
    assert_eq!(
        of(Report {
            depth: 12_000,
            ..clear()
        }),
        3_240,
        "or of the buffer"
    );
    assert_eq!(
        of(Report {
            packet: 2_000,
            ..clear()
        }),
        16_000,
        "eight packets"
    );
    let lost = Report {
        packet: 2_000,
        depth: 12_000,
        ..clear()
    };
    assert_eq!(of(lost), 3_240, "after a loss one: less than the part of the buffer");
    let alone = Rules { threshold: 0, ..RULES };
    assert_eq!(limit(&alone, &lost), 4_000, "two, if there is no threshold");
    assert_eq!(of(Report { base: 5_000, ..clear() }), 4_000);
    assert_eq!(
        of(Report {
            base: 5_000,
            packet: 0,
            ..clear()
        }),
        2_000,
        "twice the timer noise"
    );
}
