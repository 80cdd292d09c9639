// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Peers whose clocks tick slowly, drift, wrap, jump or lie: a background flow must neither starve nor become deaf.

use crate::path::{Clock, Path, BUFFER, SECOND, USUAL};
use netnice_cores::Algorithm;

/// A LEDBAT or TCP-LP flow that knows its path, at 40 segments.
fn flow(algorithm: Algorithm, clock: Clock, epoch: u32) -> Path {
    let mut path = Path::new(algorithm, clock);
    path.epoch = epoch;
    path.experienced()
}

/// Grows on an empty path; yields to a queue towards the peer; whatever the clock.
fn grows_and_yields(path: &mut Path, what: &str) {
    path.round();
    path.round();
    assert!(path.window() > 40.5, "{what}: starves at {}", path.window());
    path.hold(SECOND, 40.0);
    path.forward = BUFFER;
    path.hold(SECOND, 40.0);
    path.rounds(3);
    assert!(path.window() < 39.5, "{what}: does not yield, {}", path.window());
    path.forward = 0;
    path.hold(10 * SECOND, 40.0);
}

#[test]
fn usual_slow_and_coarse_clocks() {
    for algorithm in [Algorithm::Ledbat, Algorithm::Lp] {
        for tick_us in [1, 1_000, 2_000, 4_000, 5_000, 10_000, 20_000, 7_000, 100_000, 1_000_000] {
            let mut path = flow(algorithm, Clock::Ticks(tick_us, 77, 0), 0);
            grows_and_yields(&mut path, &format!("{algorithm:?}, tick {tick_us} us"));
        }
    }
}

#[test]
fn ticks_are_measured_so_the_way_back_stays_invisible() {
    for algorithm in [Algorithm::Ledbat, Algorithm::Lp] {
        for tick_us in [1, 1_000, 4_000, 10_000] {
            let mut path = flow(algorithm, Clock::Ticks(tick_us, 77, 0), 0);
            path.back = BUFFER;
            path.hold(SECOND, 40.0);
            path.round();
            assert!(
                path.window() > 40.0,
                "{algorithm:?}, tick {tick_us} us: {}",
                path.window()
            );
        }
    }
}

#[test]
fn an_unusual_tick_is_not_guessed() {
    // 7 ms fits no unit: the RTT serves, so the way back shows
    let mut path = flow(Algorithm::Ledbat, Clock::Ticks(7_000, 77, 0), 0);
    path.back = BUFFER;
    path.hold(SECOND, 40.0);
    path.round();
    assert!(path.window() < 40.0, "{}", path.window());
}

#[test]
fn random_and_absent_timestamps() {
    for algorithm in [Algorithm::Ledbat, Algorithm::Lp, Algorithm::Ledbatpp] {
        for clock in [Clock::Random, Clock::None] {
            let mut path = flow(algorithm, clock, 0);
            if algorithm != Algorithm::Ledbatpp {
                grows_and_yields(&mut path, &format!("{algorithm:?}, {clock:?}"));
            }
        }
    }
}

#[test]
fn a_clock_that_turns_random_later() {
    for algorithm in [Algorithm::Ledbat, Algorithm::Lp] {
        let mut path = flow(algorithm, USUAL, 0);
        path.clock = Clock::Random;
        path.hold(10 * SECOND, 40.0);
        grows_and_yields(&mut path, &format!("{algorithm:?}"));
    }
}

#[test]
fn both_clocks_wrap() {
    for algorithm in [Algorithm::Ledbat, Algorithm::Lp] {
        for before in [1, 3, 6, 8] {
            // the peer's wraps, and ours, so many seconds after the start
            let peer = Clock::Ticks(1_000, 0u32.wrapping_sub(before * 1_000), 0);
            let mut path = flow(algorithm, peer, 0);
            grows_and_yields(&mut path, &format!("{algorithm:?}, peer wraps after {before} s"));
            let mut path = flow(algorithm, USUAL, 0u32.wrapping_sub(before * SECOND));
            grows_and_yields(&mut path, &format!("{algorithm:?}, we wrap after {before} s"));
        }
    }
}

#[test]
fn a_clock_that_jumps() {
    for algorithm in [Algorithm::Ledbat, Algorithm::Lp] {
        for jump in [
            1u32,
            30,
            3_000,
            1 << 20,
            1 << 31,
            (1 << 31) + 5,
            0u32.wrapping_sub(50),
            0u32.wrapping_sub(3_000),
        ] {
            let mut path = flow(algorithm, USUAL, 0);
            path.clock = Clock::Ticks(1_000, 12_345u32.wrapping_add(jump), 0);
            path.hold(10 * SECOND, 40.0);
            grows_and_yields(&mut path, &format!("{algorithm:?}, jump by {jump} ms"));
        }
    }
}

#[test]
fn crystals_drift() {
    for algorithm in [Algorithm::Ledbat, Algorithm::Lp] {
        for ppm in [-100, -20, 20, 100] {
            let mut path = flow(algorithm, Clock::Ticks(1_000, 77, ppm), 0);
            path.hold(300 * SECOND, 40.0);
            grows_and_yields(&mut path, &format!("{algorithm:?}, {ppm} ppm"));
        }
    }
}
