// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! draft-irtf-iccrg-ledbat-plus-plus, point by point: docs/research/ledbat.md names the test beside each statement.

use crate::path::{near, Clock, Path, MS, SECOND, USUAL};
use approx::assert_abs_diff_eq;
use netnice_cores::{Algorithm, Param, Recovery};

const TARGET: u32 = 60 * MS;

/// A flow on a path of this base RTT that never slows down by itself, at 40 segments.
fn unhurried(base_rtt: u32) -> Path {
    let mut path = Path::with(Algorithm::Ledbatpp, USUAL, &[(Param::Slowdown, 0)]);
    path.base = base_rtt / 2;
    path.settle(40.0);
    path
}

fn change(base_rtt: u32, queue: u32) -> f64 {
    let mut path = unhurried(base_rtt);
    path.forward = queue;
    path.hold(2 * SECOND, 40.0);
    path.round();
    path.window() - 40.0
}

#[test]
fn the_gain_follows_the_ratio_of_target_and_base() {
    for (base_rtt, divisor) in [
        (2, 16.0),
        (7, 16.0),
        (13, 10.0),
        (41, 3.0),
        (62, 2.0),
        (130, 1.0),
        (400, 1.0),
    ] {
        let grown = change(base_rtt * MS, 0);
        assert!(near(grown, 1.0 / divisor), "{base_rtt} ms: {grown}");
    }
}

#[test]
fn below_the_target_growth_does_not_depend_on_the_queue() {
    let (empty, half) = (change(130 * MS, 0), change(130 * MS, TARGET / 2));
    assert!(near(half, empty), "{half} {empty}");
}

#[test]
fn above_the_target_the_decrease_is_multiplicative() {
    // gain - W (queue / target - 1) a round trip, at 40 segments and a gain of 1
    for (quarters, wanted) in [(5, -9.0), (6, -19.0)] {
        let down = change(130 * MS, TARGET * quarters / 4);
        assert_abs_diff_eq!(down, wanted, epsilon = 0.8);
    }
}

#[test]
fn no_round_trip_takes_more_than_half() {
    let down = change(130 * MS, 20 * TARGET);
    assert!((-20.0..-19.0).contains(&down), "{down}");
}

#[test]
fn it_sees_the_queue_of_both_ways() {
    let mut path = unhurried(130 * MS);
    path.back = 2 * TARGET;
    path.hold(SECOND, 40.0);
    path.round();
    assert!(path.window() < 30.0, "{}", path.window());
}

#[test]
fn timestamps_do_not_matter() {
    for clock in [Clock::None, Clock::Random, USUAL] {
        let mut path = Path::with(Algorithm::Ledbatpp, clock, &[(Param::Slowdown, 0)]);
        path.settle(40.0);
        path.round();
        assert!(near(path.window(), 40.0 + 1.0 / 3.0), "{clock:?}: {}", path.window());
    }
}

#[test]
fn the_first_window_is_two_segments_and_slow_start_grows_by_the_gain() {
    let mut path = Path::new(Algorithm::Ledbatpp, USUAL);
    assert_eq!(path.window(), 2.0);
    path.set_window(30.0);
    path.core.flow.win.ssthresh = u32::MAX;
    path.round();
    assert!(near(path.window(), 40.0), "1/3 a segment: {}", path.window());
}

#[test]
fn the_first_slow_start_ends_at_three_quarters_of_the_target() {
    for (queue, ends) in [(40 * MS, false), (50 * MS, true)] {
        let mut path = Path::new(Algorithm::Ledbatpp, USUAL);
        path.round();
        path.forward = queue;
        path.rounds(8);
        assert_eq!(path.core.flow.win.ssthresh != u32::MAX, ends, "{queue}");
    }
}

/// Twentieths of a round trip pass until `done`; the microseconds that took.
fn until(path: &mut Path, most: u32, done: impl Fn(&Path) -> bool) -> u64 {
    let start = path.now_us;
    for i in 1.. {
        if done(path) {
            break;
        }
        assert!(path.now_us - start <= most as u64, "not within {most} us");
        let flight = path.window() as u32;
        path.ack((flight / 20).max(2), path.rtt() / 20, flight, i % 20 == 0);
    }
    path.now_us - start
}

fn slow(path: &Path) -> bool {
    path.window() <= 2.0
}

fn back(path: &Path) -> bool {
    path.core.flow.win.w >= path.core.flow.win.ssthresh
}

/// A flow whose first slow start has just ended at 40 segments.
fn started() -> Path {
    let mut path = Path::new(Algorithm::Ledbatpp, USUAL);
    path.round();
    path.set_window(40.0);
    path
}

#[test]
fn the_first_slowdown_comes_two_round_trips_after_slow_start() {
    let mut path = started();
    let waited = until(&mut path, SECOND, slow);
    assert!((2..=3).contains(&(waited / path.rtt() as u64)), "{waited} us");
    assert!(near(path.core.flow.win.ssthresh as f64 / 4096.0, 40.0));
}

#[test]
fn a_slowdown_holds_two_segments_for_two_round_trips_and_returns_to_where_it_was() {
    let mut path = started();
    until(&mut path, SECOND, slow);
    let held = until(&mut path, SECOND, |path| !slow(path)) as f64 / path.rtt() as f64;
    assert!((2.0..2.2).contains(&held), "{held} round trips");
    until(&mut path, 10 * SECOND, back);
    assert!(near(path.window(), 40.0), "{}", path.window());
}

#[test]
fn slowdowns_take_a_tenth_of_the_time() {
    let mut path = started();
    until(&mut path, SECOND, slow);
    let (start, mut lost) = (path.now_us, 0);
    for _ in 0..5 {
        let took = until(&mut path, 10 * SECOND, back);
        lost += took;
        let pause = until(&mut path, 60 * SECOND, slow);
        assert!(
            (9 * took..9 * took + 30 * MS as u64).contains(&pause),
            "{pause} us after {took} us"
        );
    }
    let part = lost as f64 / (path.now_us - start) as f64;
    assert!((0.09..0.101).contains(&part), "{part}");
}

#[test]
fn a_loss_while_slow_halves_the_window_it_came_from() {
    let mut path = started();
    until(&mut path, SECOND, slow);
    let before = path.core.flow.win.ssthresh;
    path.core.recovery(Recovery::Reduced);
    assert_eq!((path.window(), path.core.flow.win.ssthresh), (2.0, before / 2));
}

#[test]
fn a_slowdown_finds_a_forgotten_base_again() {
    let mut path = unhurried(130 * MS);
    path.forward = 2 * TARGET;
    path.hold(11 * 60 * SECOND, 40.0);
    path.round();
    assert!(path.window() > 40.0, "its own queue is the base: {}", path.window());
    path.forward = 0; // what a slowdown shows
    path.hold(SECOND, 2.0);
    path.forward = 2 * TARGET;
    path.hold(SECOND, 40.0);
    path.round();
    assert!(path.window() < 40.0, "{}", path.window());
}
