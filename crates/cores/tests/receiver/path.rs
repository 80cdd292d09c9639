// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receivers on a path of one queue: flows fill it and leave it, clocks run wrong, routes change.

use netnice_cores::receiver::{ALGORITHMS, PARAMETERS};

use super::simulated::{Path, MSS, SECOND};

/// Those that netnice has of its own.
const NAMES: [&str; 2] = ["tide", "as_sender"];

#[test]
fn they_fill_an_idle_path_and_keep_its_queue_short() {
    for (name, starts, least, most) in [("tide", 5, 0.97, 20_000), ("as_sender", 5, 0.95, 8_000)] {
        let mut path = Path::new(name);
        path.run(starts * SECOND, 0.0);
        let (used, queue) = path.run(20 * SECOND, 0.0);
        assert!(used > least, "{name} uses {used}");
        assert!(queue < most, "{name}: queue of {queue} us");
    }
}

#[test]
fn where_the_path_is_short_and_fast_less_of_a_queue_is_tolerated() {
    for (rtt, service, most) in [
        (20_000, 121, 2_000),
        (30_000, 242, 2_000),
        (30_000, 1211, 4_000),
        (100_000, 121, 4_000),
    ] {
        let mut path = Path::new("tide");
        (path.rtt, path.service) = (rtt, service);
        path.run(10 * SECOND, 0.0);
        let (used, queue) = path.run(20 * SECOND, 0.0);
        assert!(used > 0.98, "{rtt} us: uses {used}");
        assert!(queue < most, "{rtt} us, {service} a segment: queue of {queue} us");
    }
}

/// Packets a millisecond that a stranger sends, seconds to give way and what is used then, seconds to come back and to what.
struct Visit(f64, u64, f64, u64, f64);

#[test]
fn they_leave_when_a_stranger_fills_the_path_and_come_back() {
    for (name, visit) in [
        ("tide", Visit(1.0, 1, 0.05, 2, 0.95)),
        ("as_sender", Visit(1.0, 1, 0.05, 2, 0.95)),
    ] {
        let Visit(stranger, leaves, most, returns, least) = visit;
        let mut path = Path::new(name);
        path.run(10 * SECOND, 0.0);
        path.run(leaves * SECOND, stranger);
        let (used, _) = path.run(5 * SECOND, stranger);
        assert!(used < most, "{name} still uses {used}");
        path.run(returns * SECOND, 0.0);
        let (used, _) = path.run(5 * SECOND, 0.0);
        assert!(used > least, "{name} came back to {used}");
    }
}

#[test]
fn a_hole_is_for_the_sender_to_answer() {
    let mut path = Path::new("as_sender");
    path.run(10 * SECOND, 0.0);
    let before = path.core.look().target;
    path.next = path.next.wrapping_add(MSS);
    path.run(SECOND / 20, 0.0);
    let after = path.core.look().target;
    assert!(after >= before - MSS, "{before} {after}");
}

#[test]
fn clocks_that_drift_for_an_hour_change_nothing() {
    for (name, drift) in [("tide", -100), ("tide", 100), ("as_sender", -100), ("as_sender", 100)] {
        let mut path = Path::new(name);
        path.drift = drift;
        path.run(3600 * SECOND, 0.0);
        let (used, queue) = path.run(60 * SECOND, 0.0);
        assert!(
            used > 0.95 && queue < 25_000,
            "{name}, drift {drift}: {used}, {queue} us"
        );
    }
}

#[test]
fn peers_of_every_tick_are_understood() {
    for (name, tick) in NAMES.iter().flat_map(|n| [1, 1000, 4000, 10_000].map(|t| (n, t))) {
        let mut path = Path::new(name);
        path.tick = tick;
        path.run(10 * SECOND, 0.0);
        let (used, queue) = path.run(20 * SECOND, 0.0);
        assert_eq!(u64::from(path.core.look().tick), tick);
        assert!(used > 0.9 && queue < 30_000, "{name}, tick {tick}: {used}, {queue} us");
    }
}

#[test]
fn a_peer_without_timestamps_is_judged_by_round_trips() {
    let mut path = Path::new("tide");
    path.timestamps = false;
    path.run(10 * SECOND, 0.0);
    let (used, queue) = path.run(20 * SECOND, 0.0);
    assert!(used > 0.85 && queue < 60_000, "{used}, {queue} us");
    path.run(2 * SECOND, 1.0);
    let (used, _) = path.run(5 * SECOND, 1.0);
    assert!(used < 0.1, "still uses {used}");
}

#[test]
fn without_timestamps_a_kernel_that_rounds_windows_up_takes_nothing_away() {
    for (name, scale) in NAMES.iter().flat_map(|n| [7, 8, 10].map(|s| (n, s))) {
        let mut path = Path::new(name);
        (path.timestamps, path.scale, path.rtt) = (false, scale, 40_000);
        for _ in 0..3 {
            yields_as_tide_does(&mut path, &format!("{name}, scale {scale}"));
        }
    }
}

/// As good as random (splitmix64).
fn random(ticks: u64) -> u32 {
    let mut x = ticks.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 31).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ x >> 29) as u32
}

/// Uses the path alone, without a queue; leaves it to a stranger; comes back.
fn yields_as_tide_does(path: &mut Path, who: &str) {
    path.run(10 * SECOND, 0.0);
    let (used, queue) = path.run(20 * SECOND, 0.0);
    assert!(used > 0.9 && queue < 30_000, "{who}: {used}, {queue} us");
    path.run(2 * SECOND, 1.0);
    let (used, _) = path.run(5 * SECOND, 1.0);
    assert!(used < 0.1, "{who}: still uses {used}");
    path.run(3 * SECOND, 0.0);
    let (used, _) = path.run(5 * SECOND, 0.0);
    assert!(used > 0.9, "{who}: came back to {used}");
}

/// What a peer's clock shows at a microsecond.
type Clock = fn(u64) -> u32;

#[test]
fn a_clock_that_is_none_is_not_believed() {
    let clocks: [(&str, Clock); 4] = [
        ("random", random),
        ("random in a second", |ticks| ticks as u32 + random(ticks) % 1000),
        ("constant", |_| 4711),
        ("backwards", |ticks| 0u32.wrapping_sub(ticks as u32)),
    ];
    for (name, (who, shows)) in NAMES.iter().flat_map(|n| clocks.map(|c| (n, c))) {
        let mut path = Path::new(name);
        path.shows = shows;
        yields_as_tide_does(&mut path, &format!("{name}, {who}"));
    }
}

#[test]
fn a_clock_that_wraps_is_believed() {
    for tick in [1, 1000] {
        let mut path = Path::new("tide");
        path.tick = tick;
        // after five seconds
        path.shows = match tick {
            1 => |ticks| (ticks as u32).wrapping_sub(6_000_000),
            _ => |ticks| (ticks as u32).wrapping_sub(6_000),
        };
        yields_as_tide_does(&mut path, "wrapping");
        assert_eq!(u64::from(path.core.look().tick), tick);
    }
}

#[test]
fn a_clock_that_jumps_is_measured_afresh() {
    for jump in [300_000i32, -300_000] {
        let mut path = Path::new("tide");
        path.run(10 * SECOND, 0.0);
        let before = path.shows;
        path.shows = match jump {
            300_000 => |ticks| ticks as u32 + 300_000,
            _ => |ticks| (ticks as u32).wrapping_sub(300_000),
        };
        let (used, _) = path.run(SECOND, 0.0);
        assert!(used > 0.9, "{jump}: {used}");
        assert_eq!(path.core.look().tick, 1000, "{jump}");
        yields_as_tide_does(&mut path, "jumped");
        path.shows = before;
        path.run(SECOND, 0.0);
        assert_eq!(path.core.look().tick, 1000, "{jump}, back");
        yields_as_tide_does(&mut path, "jumped back");
    }
}

#[test]
fn every_receiver_uses_an_idle_path() {
    for algorithm in ALGORITHMS {
        let mut path = Path::new(algorithm.name);
        path.run(60 * SECOND, 0.0);
        let (used, _) = path.run(30 * SECOND, 0.0);
        // the paper's figure 2: a flow that yields to its own queue too wastes most of the path
        let wasteful = algorithm.name == "vulture_cautious";
        assert_eq!(used > 0.6, !wasteful, "{}: {used}", algorithm.name);
    }
}

#[test]
fn rledbat_keeps_to_its_target() {
    let mut path = Path::new("rledbat");
    path.run(60 * SECOND, 0.0);
    let (_, queue) = path.run(60 * SECOND, 0.0);
    assert!((20_000..80_000).contains(&queue), "{queue} us");
}

#[test]
fn a_flow_that_becomes_background_drains_and_comes_back_to_the_senders_window() {
    let mut path = Path::new("tide");
    let row = path.core.chosen.take();
    path.run(3 * SECOND, 0.0);
    let estimate = path.core.look().estimate / MSS;
    assert!((56..=62).contains(&estimate), "estimate {estimate} segments");
    path.core.chosen = row;
    path.run(SECOND / 20, 0.0);
    assert!(path.core.look().window <= 2 * MSS, "the least window");
    path.run(3 * SECOND, 0.0);
    let window = path.core.look().window / MSS;
    assert!((56..=96).contains(&window), "window {window} segments");
}

#[test]
fn off_gives_the_window_back_to_the_kernel() {
    let mut path = Path::new("tide");
    path.run(SECOND, 0.0);
    path.core.chosen = None;
    path.run(200_000, 0.0);
    assert_eq!(path.core.ack(path.acked, path.now as u32, path.now as u32), 0);
}

#[test]
fn some_parameters_are_for_measurement_only() {
    for name in ["skew", "passive"] {
        let at = PARAMETERS.iter().position(|p| *p == name).expect(name);
        assert!(ALGORITHMS.iter().all(|a| a.defaults[at] == 0), "{name}");
    }
}

#[test]
fn a_clock_learnt_after_the_first_segment_is_used_at_once() {
    for start in [0, 1_500_000_000, 3_000_000_000u32] {
        let mut path = Path::new("tide");
        (path.next, path.acked, path.edge) = (start, start, start);
        path.core.ack(start, 0, 0);
        path.acks[0].1 = start.wrapping_add(10 * MSS);
        path.timestamps = false;
        path.run(2500, 0.0);
        path.timestamps = true;
        path.run(10 * SECOND, 0.0);
        let (used, _) = path.run(10 * SECOND, 0.0);
        assert!(used > 0.95, "from {start}: uses {used}");
    }
}

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

fn settled() -> Path {
    let mut path = Path::new("tide");
    path.run(10 * SECOND, 0.0);
    path
}

#[test]
fn a_longer_route_is_accepted_within_half_a_minute() {
    for jitter in [0, 500] {
        for longer in [6_000, 10_000, 14_000, 20_000, 40_000, 100_000] {
            let mut path = settled();
            (path.jitter, path.longer) = (jitter, longer);
            path.run(30 * SECOND, 0.0);
            let (used, queue) = path.run(20 * SECOND, 0.0);
            assert!(
                used > 0.97 && queue < 10_000,
                "{longer} us more, {jitter} us of jitter: uses {used}, queue of {queue} us"
            );
        }
    }
}

/// Only a flow that sends next to nothing waits: one that left for a stranger could not come back.
#[test]
fn a_card_that_waits_is_no_queue() {
    for kept in [2_000, 4_000, 6_000, 10_000] {
        let mut path = Path::new("tide");
        path.kept = kept;
        path.run(10 * SECOND, 0.0);
        path.run(5 * SECOND, 1.0);
        path.run(20 * SECOND, 0.0);
        let (used, _) = path.run(20 * SECOND, 0.0);
        assert!(used > 0.97, "a card that waits {kept} us: uses {used}");
    }
}

/// Nothing tells its queue from a longer route but that it grows when a flow joins.
#[test]
fn a_stranger_whose_window_stands_still_keeps_the_path() {
    for packets in [100, 120, 140] {
        let mut path = settled();
        path.steady.extend((0..packets).map(|n| path.now + n * 1000));
        path.run(20 * SECOND, 0.0);
        let (used, _) = path.run(120 * SECOND, 0.0);
        assert!(used < 0.05, "beside {packets} packets: uses {used}");
        path.steady.clear();
        path.run(30 * SECOND, 0.0);
        let (used, _) = path.run(20 * SECOND, 0.0);
        assert!(used > 0.97, "after {packets} packets: uses {used}");
    }
}

/// A route that was longer for a while only: the shorter base is seen at once.
#[test]
fn a_route_that_becomes_shorter_again_is_seen_at_once() {
    let mut path = settled();
    path.longer = 50_000;
    path.run(30 * SECOND, 0.0);
    path.longer = 0;
    path.run(5 * SECOND, 0.0);
    let (used, queue) = path.run(20 * SECOND, 0.0);
    assert!(used > 0.97 && queue < 10_000, "{used}, queue of {queue} us");
}
