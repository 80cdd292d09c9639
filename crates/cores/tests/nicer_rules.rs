// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Table I of TCP Nicer, and its back-off delayed by a round.

mod feed;

use approx::assert_abs_diff_eq;
use feed::{Feeder, BASE_US};
use netnice_cores::Algorithm;

const LEVELS: [Algorithm; 3] = [Algorithm::Nicer0, Algorithm::Nicer1, Algorithm::Nicer2];

fn flow(level: Algorithm) -> Feeder {
    Feeder::at(level, &[], 16.0)
}

#[test]
fn mul_is_of_half_the_window_and_one_round_late() {
    for (level, left) in LEVELS.into_iter().zip([14.0, 4.0, 0.8]) {
        let mut flow = flow(level);
        flow.round(BASE_US * 13 / 10);
        assert_eq!(
            flow.window(),
            16.0,
            "{level:?} cut in the first congested round"
        );
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
            assert_eq!(
                flow.window() < 14.5,
                cut,
                "{level:?} at {rtt} us: {}",
                flow.window()
            );
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
            assert_eq!(
                flow.window() < 14.5,
                cut,
                "{level:?}, {slow} of 16: {}",
                flow.window()
            );
        }
    }
}
