// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The decision of netnice: a table of (state, report) -> window to check by hand, and what holds for any report.

use approx::assert_abs_diff_eq;
use netnice_cores::decision::{decide, Report, Rules, State, RISING, STEADY, WAITING};
use netnice_cores::{Window, ONE};
use proptest::prelude::*;

/// Near those of level 0.
pub const RULES: Rules = Rules {
    threshold: 27,
    fraction: 50,
    alpha: 32,
    own: 128,
    floor_us: 1000,
};
const NEVER: u32 = u32::MAX;

/// A round of 20 segments over 40 ms, without a queue.
pub fn clear() -> Report {
    Report {
        us: 40_000,
        base: 40_000,
        queue: 0,
        reverse: 0,
        delivered: 20,
        lost: 0,
        seen: 20,
        slow: 0,
        packet: 500,
        depth: NEVER,
        limit: 10_800,
        siblings: 1,
        mean: 20 * ONE,
        policed: false,
        limited: true,
        longer: false,
    }
}

/// The same, where this many segments of a window of 20 wait.
fn queued(segments: f64) -> Report {
    let queue = (40_000.0 * segments / (20.0 - segments)).ceil() as u32;
    Report {
        queue,
        us: 40_000 + queue,
        ..clear()
    }
}

/// The same, where so many of the round's segments were above the limit.
pub fn slow(segments: u32) -> Report {
    Report {
        slow: segments,
        queue: 10_800,
        us: 60_000,
        ..clear()
    }
}

fn remembers(phase: u32, full: f64) -> State {
    let mut state = State {
        full: if full > 0.0 { segments(full) } else { NEVER },
        ..State::default()
    };
    state.set_phase(phase as u16);
    state
}

fn segments(w: f64) -> u32 {
    (w * f64::from(ONE)) as u32
}

fn window(w: u32) -> Window {
    Window {
        w,
        ssthresh: w,
        floor: 85,
        ..Window::default()
    }
}

/// Decides once from a window of 20: the window, where slow start may take it, and the state.
fn once(mut state: State, report: Report) -> (f64, f64, State) {
    let mut win = window(20 * ONE);
    decide(&mut state, &report, &mut win, &RULES);
    let of = |w: u32| f64::from(w) / f64::from(ONE);
    (of(win.w), of(win.ssthresh), state)
}

#[test]
fn a_table_of_states_and_reports() {
    let steady = || remembers(STEADY, 20.0);
    let with = |change: fn(&mut State)| {
        let mut state = steady();
        change(&mut state);
        state
    };
    let shared = Report {
        siblings: 4,
        mean: 12 * ONE,
        ..queued(0.6)
    };
    let rows: &[(&str, State, Report, f64)] = &[
        ("Vegas below alpha adds a segment", steady(), queued(1.5), 21.0),
        ("between alpha and beta it stays", steady(), queued(2.5), 20.0),
        (
            "above beta it gives up an eighth of the excess",
            steady(),
            queued(5.0),
            19.75,
        ),
        ("half of the segments slow is no congestion", steady(), slow(10), 19.84),
        ("more is, and another's: half at the limit", steady(), slow(11), 10.0),
        (
            "at twice the limit a quarter",
            steady(),
            Report {
                queue: 21_600,
                ..slow(11)
            },
            5.0,
        ),
        (
            "in a probe the own: 20 segments x 41 of 60 ms",
            with(|s| s.set_probing(2)),
            slow(11),
            13.67,
        ),
        (
            "a probe ends above beta, too",
            with(|s| s.set_probing(1)),
            queued(4.0),
            16.4,
        ),
        (
            "after six clear rounds an eighth more",
            with(|s| s.set_quiet(5)),
            clear(),
            22.5,
        ),
        (
            "a waiting round is not judged",
            with(|s| s.set_phase(WAITING as u16)),
            slow(20),
            20.0,
        ),
        (
            "a window that was not used stays",
            steady(),
            Report {
                limited: false,
                ..clear()
            },
            20.0,
        ),
        (
            "4 siblings queue 2.4 segments; 8 above their mean",
            steady(),
            shared,
            19.0,
        ),
        (
            "above their mean a cut takes an eighth of the excess first",
            steady(),
            Report {
                siblings: 4,
                mean: 12 * ONE,
                ..slow(11)
            },
            9.5,
        ),
    ];
    for (what, state, report, expected) in rows {
        let (w, ssthresh, _) = once(*state, *report);
        assert_abs_diff_eq!(w, *expected, epsilon = 0.02);
        assert_eq!(w, ssthresh, "{what}: no slow start");
    }
}

#[test]
fn the_first_slow_start_doubles_until_a_segment_is_queued() {
    let (w, ssthresh, state) = once(remembers(RISING, 0.0), clear());
    assert_eq!((w, ssthresh, u32::from(state.phase())), (20.0, 40.0, RISING));
    let (w, ssthresh, state) = once(state, queued(1.2));
    assert!(w < 20.0 && w == ssthresh, "the own queue is drained: {w}");
    assert_eq!(u32::from(state.phase()), WAITING);
}

#[test]
fn a_return_doubles_to_what_is_remembered() {
    let (w, ssthresh, state) = once(remembers(RISING, 40.0), clear());
    assert_eq!((w, ssthresh), (20.0, 35.0), "to 7/8 of 40");
    assert_eq!(u32::from(state.phase()), RISING);
    let (_, ssthresh, _) = once(remembers(RISING, 400.0), clear());
    assert_eq!(ssthresh, 40.0, "twice the window at most");
    let (w, _, after) = once(state, slow(20));
    assert_eq!((w, after.full), (10.0, 20 * ONE), "and what it remembers did not hold");
}

#[test]
fn a_return_begins_after_three_clear_rounds() {
    let mut state = remembers(STEADY, 80.0);
    for round in 1..=3 {
        let (w, ssthresh, after) = once(state, clear());
        assert_eq!(ssthresh > w, round == 3, "round {round}");
        state = after;
    }
}

#[test]
fn a_short_queue_is_drained_before_it_is_anothers() {
    let short = Report {
        queue: 3_000,
        us: 43_000,
        limit: 2_000,
        slow: 20,
        ..clear()
    };
    let (w, _, state) = once(remembers(STEADY, 20.0), short);
    assert_abs_diff_eq!(w, 20.0 * 41.0 / 43.0, epsilon = 0.01);
    let mut judged = state;
    judged.set_phase(STEADY as u16);
    let (w, _, _) = once(judged, short);
    assert_abs_diff_eq!(w, 20.0 * 2.0 / 3.0 / 2.0, epsilon = 0.01);
    let (_, _, clear_again) = once(judged, clear());
    assert_eq!(clear_again.drained(), 0);
}

#[test]
fn a_longer_route_is_tried_by_growth() {
    let report = Report {
        longer: true,
        ..slow(20)
    };
    let (w, ssthresh, state) = once(remembers(STEADY, 20.0), report);
    assert_eq!((w, ssthresh, u32::from(state.phase())), (20.0, 40.0, RISING));
}

/// 6 ms are 13 % of the round: of 48 siblings of two segments 12.5 segments, or 6.5 ms; of half a segment 1.8 ms.
#[test]
fn below_one_segment_it_waits_until_half_of_the_limit_or_for_siblings() {
    let cases = [
        (1, 0, 5_400, true),
        (1, 0, 5_401, false),
        (48, 2 * ONE, 6_000, true),
        (48, ONE / 2, 6_000, false),
    ];
    for (siblings, mean, queue, grows) in cases {
        let (mut state, mut win) = (remembers(STEADY, 20.0), window(ONE / 4));
        let us = 40_000 + queue;
        decide(
            &mut state,
            &Report {
                queue,
                us,
                siblings,
                mean,
                ..clear()
            },
            &mut win,
            &RULES,
        );
        assert_eq!(win.w > ONE / 4, grows, "queue {queue}, {siblings} of {mean}");
    }
}

pub fn reports() -> impl Strategy<Value = Report> {
    let times = (1_000u32..400_000, 0u32..400_000, 0u32..100_000, 0u32..20_000);
    let counts = (0u32..2_000, 0u32..2_000, 0u32..=100, 1u32..64, 0u32..4_000 * ONE);
    (times, counts, any::<bool>(), any::<bool>()).prop_map(
        |((base, queue, reverse, packet), (delivered, seen, part, siblings, mean), limited, lost)| Report {
            us: base + queue + reverse,
            base,
            queue,
            reverse,
            delivered,
            lost: 0,
            seen,
            slow: seen * part / 100,
            packet,
            depth: if lost { base / 2 } else { NEVER },
            limit: base / 4,
            siblings,
            mean,
            policed: false,
            limited,
            longer: false,
        },
    )
}

pub fn states() -> impl Strategy<Value = (State, u32)> {
    let words = (0u16..3, 0u16..3, 0u16..16, 0u16..4);
    (words, 85u32..4_000 * ONE, prop_oneof![Just(NEVER), 85u32..4_000 * ONE]).prop_map(
        |((phase, probing, quiet, returning), w, full)| {
            let mut state = remembers(phase.into(), 0.0);
            state.full = full;
            state.set_probing(probing);
            state.set_quiet(quiet);
            state.set_returning(returning);
            (state, w)
        },
    )
}

pub fn after(state: &State, w: u32, report: &Report, rules: &Rules) -> (State, Window) {
    let (mut state, mut win) = (*state, window(w));
    decide(&mut state, report, &mut win, rules);
    (state, win)
}

proptest! {
    #[test]
    fn congestion_never_raises_the_window((state, w) in states(), report in reports()) {
        let report = Report { slow: report.seen, seen: report.seen.max(1), ..report };
        let (_, win) = after(&state, w, &Report { slow: report.seen, ..report }, &RULES);
        prop_assert!(win.w <= w && win.ssthresh <= w);
    }

    #[test]
    fn the_window_is_never_below_the_floor((state, w) in states(), report in reports()) {
        let (_, win) = after(&state, w, &report, &RULES);
        prop_assert!(win.w >= 85);
    }

    #[test]
    fn a_window_at_most_doubles_in_a_round((state, w) in states(), report in reports()) {
        let (_, win) = after(&state, w, &report, &RULES);
        prop_assert!(win.w.max(win.ssthresh) <= 2 * w.max(ONE));
    }

    #[test]
    fn a_report_of_nothing_changes_no_window((state, w) in states(), report in reports()) {
        let (_, win) = after(&state, w, &Report { seen: 0, slow: 0, ..report }, &RULES);
        prop_assert_eq!((win.w, win.ssthresh), (w, w));
    }

    #[test]
    fn time_has_no_unit((state, w) in states(), report in reports(), times in 2u32..8) {
        let longer = Report {
            us: report.us * times,
            base: report.base * times,
            queue: report.queue * times,
            reverse: report.reverse * times,
            packet: report.packet * times,
            limit: report.limit * times,
            depth: report.depth.saturating_mul(times),
            ..report
        };
        let rules = Rules { floor_us: RULES.floor_us * times, ..RULES };
        let (one, other) = (after(&state, w, &report, &RULES).1, after(&state, w, &longer, &rules).1);
        let near = |a: u32, b: u32| a.abs_diff(b) <= a / 256 + 2;
        prop_assert!(near(one.w, other.w), "{} {}", one.w, other.w);
    }

    #[test]
    fn a_longer_queue_never_makes_a_larger_window((state, w) in states(), report in reports(), more in 0u32..200_000) {
        // of a full window: all of it waits as long
        let of = |queue: u32| {
            let delivered = (w / ONE).max(1);
            let slow = if queue > report.limit { delivered } else { 0 };
            let us = report.base + report.reverse + queue;
            Report { queue, us, delivered, seen: delivered, slow, limited: true, ..report }
        };
        let larger = |win: Window| win.w.max(win.ssthresh);
        let one = larger(after(&state, w, &of(report.queue), &RULES).1);
        let other = larger(after(&state, w, &of(report.queue + more), &RULES).1);
        prop_assert!(other <= one.saturating_add(2), "{one} {other}");
    }
}
