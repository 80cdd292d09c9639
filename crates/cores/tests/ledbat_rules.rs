// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! RFC 6817, point by point: docs/research/ledbat.md names the test beside each statement.

use crate::path::{near, Clock, Path, MS, SECOND, USUAL};
use approx::assert_abs_diff_eq;
use netnice_cores::{Algorithm, Param, Recovery};

const TARGET: u32 = 100 * MS;

fn ledbat(window: f64) -> Path {
    Path::steady(Algorithm::Ledbat, USUAL, window)
}

/// The change of the window over one round trip with this queue towards the peer.
fn change(queue: u32) -> f64 {
    let mut path = ledbat(40.0);
    path.forward = queue;
    path.hold(200 * MS, 40.0); // so that the filter has forgotten the empty path
    path.round();
    path.window() - 40.0
}

#[test]
fn an_empty_queue_adds_a_segment_a_round_trip_and_no_more_than_reno() {
    let grown = change(0);
    assert!(near(grown, 1.0) && grown <= 1.0, "{grown}");
}

#[test]
fn the_change_is_in_proportion_to_the_distance_from_the_target() {
    assert_abs_diff_eq!(change(TARGET / 2), 0.5, epsilon = 0.03);
    assert_abs_diff_eq!(change(TARGET), 0.0, epsilon = 0.03);
    assert_abs_diff_eq!(change(2 * TARGET), -1.0, epsilon = 0.05);
    assert_abs_diff_eq!(change(4 * TARGET), -3.0, epsilon = 0.20);
}

#[test]
fn the_target_is_a_parameter() {
    let mut path = Path::with(Algorithm::Ledbat, USUAL, &[(Param::Target, 20)]);
    path.settle(40.0);
    path.forward = 40 * MS;
    path.hold(200 * MS, 40.0);
    path.round();
    assert_abs_diff_eq!(path.window(), 39.0, epsilon = 0.1);
}

#[test]
fn the_window_stays_at_two_segments_at_least() {
    let mut path = ledbat(4.0);
    path.forward = 8 * TARGET;
    path.run(10 * SECOND);
    assert_eq!(path.window(), 2.0);
}

#[test]
fn the_first_window_is_two_segments_and_slow_start_doubles_it() {
    let mut path = Path::new(Algorithm::Ledbat, USUAL);
    assert_eq!(path.window(), 2.0);
    path.round();
    assert_eq!(path.window(), 4.0);
}

#[test]
fn slow_start_ends_before_the_queue_reaches_the_target() {
    let mut path = Path::new(Algorithm::Ledbat, USUAL);
    path.rounds(4);
    path.forward = 95 * MS;
    path.round();
    let left = path.window();
    path.round();
    assert!(path.window() <= left + 0.1, "{} after {left}", path.window());
}

#[test]
fn growth_needs_a_used_window() {
    let mut path = ledbat(40.0);
    for _ in 0..100 {
        path.ack(2, MS, 10, false);
    }
    assert_eq!(path.window(), 18.0, "the twelve in use, a quarter and three");
    path.set_window(4.0);
    for _ in 0..1000 {
        path.ack(2, MS, 10, false);
    }
    assert_eq!(path.window(), 18.0);
}

#[test]
fn slow_start_needs_a_used_window() {
    let mut path = Path::new(Algorithm::Ledbat, USUAL);
    for n in 0..100 {
        path.ack(2, MS, 10, n % 6 == 0);
    }
    assert!(path.window() <= 44.0, "{}", path.window());
}

#[test]
fn a_loss_halves_once() {
    let mut path = ledbat(40.0);
    path.core.recovery(Recovery::Reduced);
    path.core.recovery(Recovery::Reduced);
    assert_eq!(path.window(), 20.0);
    path.round();
    assert_eq!(path.window(), 20.0, "no growth in recovery");
}

#[test]
fn three_late_samples_of_four_are_noise() {
    let mut path = ledbat(40.0);
    for i in 0..40 {
        path.forward = if i % 4 == 0 { 0 } else { 3 * TARGET };
        path.ack(2, MS, 40, false);
    }
    assert!(path.window() > 40.0, "{}", path.window());
}

#[test]
fn a_queue_on_the_way_back_is_not_seen() {
    let mut path = ledbat(40.0);
    path.back = 5 * TARGET;
    path.hold(SECOND, 40.0);
    path.round();
    assert!(near(path.window(), 41.0), "{}", path.window());
}

#[test]
fn a_longer_route_becomes_the_base_after_ten_minutes() {
    let mut path = ledbat(40.0);
    path.base += 2 * TARGET;
    path.hold(8 * 60 * SECOND, 40.0);
    path.round();
    assert!(path.window() < 40.0, "too early: {}", path.window());
    path.hold(3 * 60 * SECOND, 40.0);
    path.round();
    assert!(path.window() > 40.0, "too late: {}", path.window());
}

#[test]
fn a_shorter_route_becomes_the_base_at_once() {
    let mut path = ledbat(40.0);
    path.base -= 15 * MS;
    path.hold(SECOND, 40.0);
    path.forward = 2 * TARGET;
    path.hold(SECOND, 40.0);
    path.round();
    assert!(near(path.window(), 39.0), "{}", path.window());
}

#[test]
fn the_rfcs_flaw_a_flow_alone_forgets_its_base() {
    let mut path = ledbat(40.0);
    path.forward = TARGET;
    path.hold(11 * 60 * SECOND, 40.0);
    path.round();
    assert!(
        near(path.window(), 41.0),
        "its own queue is the base now: {}",
        path.window()
    );
}

#[test]
fn without_timestamps_the_round_trip_serves() {
    for clock in [Clock::None, Clock::Random] {
        let mut path = Path::steady(Algorithm::Ledbat, clock, 40.0);
        path.round();
        assert!(near(path.window(), 41.0), "{clock:?}: {}", path.window());
        path.forward = 2 * TARGET;
        path.hold(SECOND, 40.0);
        path.round();
        assert!(near(path.window(), 39.0), "{clock:?}: {}", path.window());
    }
}

#[test]
fn a_wide_window_grows_too() {
    let mut path = Path::new(Algorithm::Ledbat, USUAL);
    path.settle(20_000.0);
    path.round();
    assert!(near(path.window() - 20_000.0, 1.0), "{}", path.window());
}

#[test]
fn its_own_first_queue_is_not_the_base() {
    let mut path = Path::new(Algorithm::Ledbat, USUAL);
    path.round();
    path.forward = 80 * MS; // before the peer's tick can be known
    path.hold(3 * SECOND, 40.0);
    path.round();
    assert_abs_diff_eq!(path.window(), 40.2, epsilon = 0.05);
}
