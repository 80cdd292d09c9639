// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! TCP Nicer beyond papers.rs: the bounds of its parameters, the rounds that its answer waits, its own queue, and what every
//! level has of Nice.

use approx::assert_abs_diff_eq;
use netnice_cores::{Algorithm, Param, Recovery};

use crate::feed::{Feeder, BASE_US};

const LEVELS: [Algorithm; 3] = [Algorithm::Nicer0, Algorithm::Nicer1, Algorithm::Nicer2];
/// Above each level's thresh.
const SLOW_US: u32 = BASE_US * 13 / 10;

fn flow(level: Algorithm, params: &[(Param, u32)]) -> Feeder {
    Feeder::at(level, params, 16.0)
}

/// A round of `all` segments, of which `slow` met a queue.
fn partly_slow(flow: &mut Feeder, slow: u32, all: u32) {
    flow.mixed_round(&[(slow, SLOW_US), (all - slow, BASE_US)]);
}

#[test]
fn frac_is_90_30_and_5_percent() {
    for (level, frac) in LEVELS.into_iter().zip([90, 30, 5]) {
        let most = 200 * frac / 100;
        for (slow, cut) in [(most, false), (most + 2, true)] {
            let mut flow = Feeder::at(level, &[], 200.0);
            for _ in 0..2 {
                partly_slow(&mut flow, slow, 200);
            }
            assert_eq!(
                flow.window() < 190.0,
                cut,
                "{level:?}, {slow} of 200: {}",
                flow.window()
            );
        }
    }
}

#[test]
fn a_mul_of_two_leaves_the_window_and_more_is_two() {
    for keep in [4_096, 5_000] {
        let mut flow = flow(Algorithm::Nicer1, &[(Param::Keep, keep)]);
        for _ in 0..4 {
            flow.round(SLOW_US);
            assert_eq!(flow.window(), 16.0, "keep {keep}");
        }
    }
}

#[test]
fn delay_is_the_rounds_that_the_answer_waits() {
    for delay in [0, 1, 3] {
        let mut flow = flow(Algorithm::Nicer1, &[(Param::Delay, delay)]);
        for round in 1..=delay + 1 {
            assert_eq!(flow.window(), 16.0, "delay {delay}, cut before congested round {round}");
            flow.round(SLOW_US);
        }
        assert_eq!(flow.window(), 4.0, "delay {delay}");
    }
}

/// The window after forty rounds, each fourth of which has two late segments of sixteen.
fn with_late_segments(level: Algorithm, delay: u32) -> f64 {
    let mut flow = flow(level, &[(Param::Delay, delay)]);
    for round in 0..40 {
        partly_slow(&mut flow, if round % 4 == 3 { 2 } else { 0 }, 16);
    }
    flow.window()
}

#[test]
fn the_delay_ignores_late_segments_and_helps_the_lowest_level_most() {
    let [high, low] = [Algorithm::Nicer0, Algorithm::Nicer2];
    assert!(with_late_segments(low, 0) < 4.0, "{}", with_late_segments(low, 0));
    assert!(with_late_segments(low, 1) > 16.0, "{}", with_late_segments(low, 1));
    assert_eq!(
        with_late_segments(high, 0),
        with_late_segments(high, 1),
        "frac .9 hides them"
    );
}

/// Segments that a path holds without a queue.
const HOLDS: f64 = 4.0;

/// What a flow that answers at once has met alone on such a path.
struct Alone {
    cuts: u32,
    /// The fewest rounds on an empty path between two cuts.
    least_empty: u32,
    /// The part of the path that it used.
    used: f64,
}

fn alone(level: Algorithm) -> Alone {
    let rounds = 400;
    let mut flow = Feeder::at(level, &[(Param::Delay, 0)], 2.0);
    let mut found = Alone {
        cuts: 0,
        least_empty: rounds,
        used: 0.0,
    };
    let mut empty = 0;
    for _ in 0..rounds {
        let before = flow.window();
        empty += u32::from(before <= HOLDS);
        found.used += before.min(HOLDS) / HOLDS / f64::from(rounds);
        flow.round((f64::from(BASE_US) * (before / HOLDS).max(1.0)) as u32);
        if flow.window() < before * 0.9 {
            found.cuts += 1;
            found.least_empty = found.least_empty.min(empty);
            empty = 0;
        }
    }
    found
}

#[test]
fn the_own_queue_takes_the_rtt_past_thresh_again_and_again() {
    let low = alone(Algorithm::Nicer2);
    assert!(low.cuts >= 5, "{} cuts", low.cuts);
    assert!(
        low.least_empty >= 5,
        "cut after {} rounds without a queue",
        low.least_empty
    );
    assert!(low.used < 0.75, "uses {} of a path of its own", low.used);
    let high = alone(Algorithm::Nicer0);
    assert!(high.used > 0.95, "a weak back-off uses {}", high.used);
}

#[test]
fn every_level_falls_to_a_48th_and_grows_in_no_congested_round() {
    for level in LEVELS {
        let mut flow = Feeder::at(level, &[], 2.0);
        let mut least = flow.window();
        for _ in 0..200 {
            flow.round(2 * BASE_US);
            assert!(flow.window() <= least, "{level:?} grew in a congested round");
            least = flow.window();
        }
        assert_abs_diff_eq!(least, 1.0 / 48.0, epsilon = 0.001);
    }
}

#[test]
fn a_loss_is_reno_at_every_level() {
    for level in LEVELS {
        let mut flow = flow(level, &[]);
        flow.core.recovery(Recovery::Reduced);
        assert_eq!(flow.window(), 8.0, "{level:?}");
        flow.core.recovery(Recovery::Open);
        flow.core.recovery(Recovery::Timeout);
        assert_eq!(flow.window(), 1.0, "{level:?}");
    }
}
