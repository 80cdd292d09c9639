// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What netnice adds to the paper: a host's flows to one destination, and delays that are no queue. Those are on the
//! reverse path or of a longer route.

use netnice_cores::{Algorithm, Siblings, ONE};

use crate::feed::{Feeder, BASE_US};
use crate::path::{near, Clock, Path, BUFFER, MS, SECOND, USUAL};

const QUEUED_US: u32 = BASE_US + BASE_US / 2;

fn siblings(flows: u32, mean: f64) -> Siblings {
    Siblings {
        flows,
        window: (mean * f64::from(ONE)) as u32,
        ..Siblings::default()
    }
}

fn about(window: f64, expected: f64) -> bool {
    (window - expected).abs() < 0.1
}

/// A flow of sixteen segments, one of four to the same place.
fn known(mean: f64) -> Feeder {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
    flow.core.siblings = Some(siblings(4, mean));
    flow
}

/// The limit is 36 % of 20 ms; the queue takes 10 ms.
#[test]
fn the_round_after_a_cut_is_not_judged() {
    let left = 7.2 / 10.0 / 2.0;
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
    for expected in [16.0 * left, 16.0 * left, 16.0 * left * left] {
        flow.round(QUEUED_US);
        assert!((flow.window() - expected).abs() < 0.01, "{}", flow.window());
    }
    let mut paper = Feeder::at(Algorithm::Nice, &[], 16.0);
    for expected in [8.0, 4.0] {
        paper.round(QUEUED_US);
        assert_eq!(paper.window(), expected, "every round, as the paper");
    }
}

/// Sixteen segments after a clear round as one of four with this mean before it: an eighth of the excess goes, Vegas adds one.
fn given(mean: f64) -> f64 {
    let round = f64::from(BASE_US >> 10) / f64::from(4 << (16 - 10));
    let mean = mean + (16.0 - mean) * round;
    16.0 - (16.0 - mean) / 8.0 + 1.0
}

#[test]
fn a_flow_gives_back_what_it_has_more_than_its_siblings() {
    for mean in [8.0, 2.0] {
        for age_us in [0, 10 * SECOND, 301 * SECOND] {
            let mut above = known(mean);
            above.now_us += age_us;
            above.core.restart(above.now_us, above.delivered);
            above.round(BASE_US);
            assert!(about(above.window(), given(mean)), "{}", above.window());
        }
    }
    let mut below = known(40.0);
    below.round(BASE_US);
    assert_eq!(below.window(), 17.0, "no flow is raised");
}

fn flow(clock: Clock) -> Path {
    Path::new(Algorithm::Netnice, clock).experienced()
}

/// Below one segment beside a queue that moves, for so many pairs.
fn yield_to_a_moving_queue(path: &mut Path, pairs: u32) {
    for i in 0..pairs {
        path.forward = BUFFER - i % 3 * 5 * MS;
        path.round();
    }
}

#[test]
fn a_full_way_back_is_no_queue() {
    for tick_us in [1, 1_000] {
        let mut path = flow(Clock::Ticks(tick_us, 77, 0));
        path.back = BUFFER;
        path.run(10 * SECOND);
        assert!(path.window() >= 40.0, "tick {tick_us}: {}", path.window());
    }
}

#[test]
fn without_a_usual_clock_it_is_one() {
    for clock in [Clock::None, Clock::Random, Clock::Ticks(10_000, 77, 0)] {
        let mut path = flow(clock);
        path.back = BUFFER;
        path.rounds(4);
        assert!(path.window() < 40.0, "{clock:?}: {}", path.window());
    }
}

#[test]
fn a_queue_on_the_way_there_is_one_though_the_way_back_is_full() {
    let mut path = flow(USUAL);
    path.back = BUFFER;
    path.run(2 * SECOND);
    let before = path.window();
    path.forward = BUFFER;
    path.rounds(6);
    assert!(path.window() < before / 2.0, "{before}: {}", path.window());
}

/// A flow that came late, and never saw the path empty: the queue that hides it in its base.
const MET: u32 = 120 * MS;

#[test]
fn a_base_that_falls_while_the_clock_is_measured_hides_no_queue() {
    let mut path = Path::new(Algorithm::Netnice, USUAL);
    for (queue, time) in [(MET, SECOND / 2), (MET / 3, SECOND / 2), (MET, 2 * SECOND)] {
        path.forward = queue;
        path.hold(time, 40.0);
    }
    path.run(SECOND);
    assert!(path.window() < 20.0, "{}", path.window());
}

#[test]
fn less_than_a_tick_and_a_half_is_what_the_rtt_tells() {
    let mut path = flow(USUAL);
    path.back = MS / 2;
    for extra in (0..1_000).step_by(90) {
        path.forward = 2 * MS + extra;
        path.round();
        path.ack(2, 10 * MS + 3 * extra, 40, false);
        assert_eq!(path.core.flow.round.min_rtt, path.rtt());
    }
}

/// Uploads beside downloads at 150 Mbit/s and 8 ms kept .04 of what they have alone.
#[test]
fn two_and_a_half_milliseconds_on_the_reverse_path_are_not_the_queue() {
    let mut path = flow(USUAL);
    path.back = 5 * MS / 2;
    for extra in (0..1_000).step_by(90) {
        path.forward = 2 * MS + extra;
        path.round();
        path.ack(2, 10 * MS + 3 * extra, 40, false);
        assert!(path.core.flow.round.min_rtt < path.rtt() - MS);
    }
}

#[test]
fn a_clock_that_jumps_or_drifts_hides_no_queue() {
    for clock in [
        Clock::Ticks(1_000, 5_000_000, 0),
        Clock::Ticks(1_000, 5, 0),
        Clock::Ticks(1_000, 12_345, 200),
        Clock::Ticks(1_000, 12_345, -200),
        Clock::Random,
    ] {
        let mut path = flow(USUAL);
        path.clock = clock;
        path.hold(20 * SECOND, 40.0);
        path.forward = BUFFER;
        path.rounds(6);
        assert!(path.window() < 20.0, "{clock:?}: {}", path.window());
    }
}

#[test]
fn drift_alone_is_no_queue() {
    for ppm in [-200, 200] {
        let mut path = flow(Clock::Ticks(1_000, 12_345, ppm));
        path.hold(600 * SECOND, 40.0);
        path.run(SECOND);
        assert!(path.window() >= 40.0, "{ppm} ppm: {}", path.window());
    }
}

#[test]
fn rtts_that_stand_still_are_a_longer_way() {
    for clock in [USUAL, Clock::None] {
        let mut path = flow(clock);
        path.forward = BUFFER;
        path.rounds(28);
        let base = path.core.flow.rtt.min;
        assert!(near(base as f64, path.rtt() as f64), "{clock:?}: {base}");
        assert!(path.window() > 4.0, "{clock:?}: {}", path.window());
    }
}

#[test]
fn a_queue_that_moves_is_none() {
    let mut path = flow(USUAL);
    yield_to_a_moving_queue(&mut path, 200);
    assert!(path.window() < 1.0, "{}", path.window());
}

/// RFC 7661: what was known before a silence is kept. The segments leave paced, and the round is judged.
#[test]
fn after_silence_the_window_stays() {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 64.0);
    flow.core.restart(flow.now_us + 5 * SECOND, flow.delivered);
    assert_eq!(flow.window(), 64.0);
}
