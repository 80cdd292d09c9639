// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is learnt of two clocks that differ, and what must not be taken for it.

use crate::simulated::{Path, SECOND};

/// A tick of a millisecond in a span of 64 s, parts per million.
const TICK: f64 = 16.0;

/// What our clock gains on the peer's, parts per million.
fn gain(path: &Path) -> f64 {
    f64::from(path.core.look().skew) * 1e6 / f64::from(1 << 24)
}

#[test]
fn three_minutes_tell_what_two_clocks_differ_by() {
    for drift in [-200, -100, -20, 20, 100, 200] {
        let mut path = Path::new("tide");
        path.drift = drift;
        path.run(200 * SECOND, 0.0);
        for minutes in 3..20 {
            path.run(60 * SECOND, 0.0);
            let gain = gain(&path);
            assert!(
                (gain + drift as f64).abs() <= TICK,
                "a peer {drift} ppm fast: after {minutes} minutes we gain {gain:.1} ppm"
            );
        }
    }
}

#[test]
fn beside_a_stranger_who_pauses_it_is_learnt_too() {
    let mut path = Path::new("tide");
    path.drift = -100;
    for _ in 0..40 {
        path.run(3 * SECOND, 1.0);
        path.run(3 * SECOND, 0.0);
    }
    let gain = gain(&path);
    assert!((gain - 100.0).abs() <= TICK, "{gain:.1} ppm");
}

#[test]
fn clocks_that_agree_teach_nothing() {
    let mut path = Path::new("tide");
    path.run(600 * SECOND, 0.0);
    assert!(gain(&path).abs() <= TICK, "{:.1} ppm", gain(&path));
}

#[test]
fn another_route_is_not_taken_for_a_clock() {
    // In the time between two spans these are 47, 94 and 156 ppm.
    for longer in [3_000, 6_000, 10_000] {
        let mut path = Path::new("tide");
        path.run(90 * SECOND, 0.0);
        path.longer = longer;
        for minutes in 1..10 {
            path.run(60 * SECOND, 0.0);
            let gain = gain(&path);
            assert!(
                gain.abs() <= TICK,
                "{longer} us longer: after {minutes} minutes {gain:.1} ppm"
            );
        }
    }
}

#[test]
fn coarse_clocks_are_left_as_they_are() {
    for tick in [4_000, 10_000] {
        let mut path = Path::new("tide");
        (path.tick, path.drift) = (tick, -100);
        path.run(600 * SECOND, 0.0);
        assert_eq!(path.core.look().skew, 0, "tick of {tick} us");
    }
}
