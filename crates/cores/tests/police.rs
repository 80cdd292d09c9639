// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Paths that drop what is above a rate and queue nothing: `algorithms/netnice/police.h`.

use netnice_cores::decision::{decide, Report, State, STEADY};
use netnice_cores::{Window, ONE};

use crate::decision::{clear, slow, RULES};

/// A window after Reno's cut for a loss without a queue.
fn cut(from: u32) -> Window {
    Window {
        w: from * ONE / 2,
        ssthresh: from * ONE / 2,
        prior_w: from * ONE,
        floor: 85,
        ..Window::default()
    }
}

fn remembers(full: u32, change: impl FnOnce(&mut State)) -> State {
    let mut state = State {
        full: full * ONE,
        ..State::default()
    };
    state.set_phase(STEADY as u16);
    change(&mut state);
    state
}

fn policed(w: u32) -> Window {
    let mut win = cut(2 * w);
    win.set_policed(1);
    win
}

fn after(mut state: State, mut win: Window, report: Report) -> (State, Window) {
    decide(&mut state, &report, &mut win, &RULES);
    (state, win)
}

fn lost(segments: u32) -> Report {
    Report {
        lost: segments,
        ..clear()
    }
}

#[test]
fn a_loss_of_a_quarter_without_a_queue_is_a_policers() {
    let unjudged = || remembers(100, |s| s.set_unqueued(2));
    for (from, segments, sibling, found) in [
        (32, 8, false, true),
        (32, 7, false, false),
        (16, 7, false, false),
        (48, 11, false, false),
        (48, 1, true, true),
    ] {
        let report = Report {
            policed: sibling,
            ..lost(segments)
        };
        let (state, win) = after(unjudged(), cut(from), report);
        assert_eq!(win.policed() == 1, found, "{segments} of {from}");
        assert_eq!(state.unqueued(), u16::from(!found));
        if found {
            assert_eq!((state.full, win.w), (20 * ONE, 20 * ONE / 8 * 7), "what was delivered");
            assert_eq!((state.wait(), state.tried(), state.patience()), (48, 1, 0));
        }
    }
}

#[test]
fn after_two_rounds_it_is_an_ordinary_loss() {
    let (state, win) = after(remembers(16, |s| s.set_unqueued(1)), cut(32), lost(7));
    assert_eq!((win.policed(), state.unqueued(), state.full), (0, 0, 16 * ONE));
}

#[test]
fn what_was_tried_is_the_flows_own_loss_and_the_rest_anothers() {
    let known = |tried| {
        remembers(40, |s| {
            s.set_unqueued(2);
            s.set_tried(tried);
        })
    };
    let (state, win) = after(known(1), policed(40), lost(20));
    assert_eq!((state.full, win.w), (20 * ONE, 20 * ONE / 8 * 7));
    assert_eq!((state.wait(), state.patience()), (48, 0));
    let (state, win) = after(known(0), policed(40), lost(20));
    assert_eq!((state.full, win.w), (20 * ONE, 5 * ONE), "a quarter");
    assert_eq!((state.wait(), state.patience()), (12, 2), "for twelve rounds");
    let shared = Report {
        siblings: 4,
        ..lost(20)
    };
    let (state, _) = after(known(0), policed(40), shared);
    assert_eq!(state.wait(), 48, "for each sibling as long");
}

#[test]
fn a_loss_below_what_is_known_to_pass_leaves_the_memory() {
    let state = remembers(80, |s| s.set_unqueued(2));
    let (state, win) = after(state, policed(20), lost(20));
    assert_eq!((state.full, win.w), (80 * ONE, 20 * ONE));
}

#[test]
fn it_waits_in_round_trips_then_returns_then_loses_patience() {
    let (state, win) = after(remembers(80, |s| s.set_wait(5)), policed(20), clear());
    assert_eq!((state.wait(), win.w, win.ssthresh), (3, 20 * ONE, 20 * ONE));
    let (_, win) = after(state, win, Report { us: 160_000, ..clear() });
    assert_eq!(win.ssthresh, 40 * ONE, "doubles");
    let almost = remembers(16, |s| s.set_patience(2));
    let (state, win) = after(almost, policed(13), clear());
    assert_eq!(
        (win.w, win.ssthresh, state.wait()),
        (13 * ONE, 14 * ONE, 0),
        "to 7/8 of 16"
    );
    let (state, _) = after(state, policed(14), clear());
    assert_eq!((state.patience(), state.wait()), (1, 24));
}

#[test]
fn a_trial_that_loses_nothing_is_known_to_pass() {
    let (state, win) = after(remembers(16, |_| {}), policed(16), clear());
    assert_eq!((win.w, state.tried(), state.wait()), (18 * ONE, 1, 48));
    let waited = Report {
        us: 48 * 40_000,
        ..clear()
    };
    let (state, win) = after(state, win, waited);
    assert_eq!((state.full, state.tried()), (18 * ONE / 7 * 8, 0));
    let (_, win) = after(state, win, waited);
    assert_eq!(win.w, 18 * ONE / 4 * 5, "the next is twice as far");
}

#[test]
fn a_queue_ends_it_and_a_delayed_ack_of_a_short_window_does_not() {
    for (w, stays) in [(20, 0), (3, 1)] {
        let (state, win) = after(remembers(40, |s| s.set_patience(3)), policed(w), slow(20));
        assert_eq!((win.policed(), state.patience() > 0), (stays, stays == 1), "{w}");
    }
}
