// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! TIDE's trial: a delay that stands still is the path's, a longer route or a card that waits, and some only look so.

use crate::simulated::{Path, SECOND};

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

/// Only who sends next to nothing meets its wait: whoever left for a stranger could not come back.
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

/// Nothing tells its queue from a longer route but that it grows when somebody joins.
#[test]
fn a_stranger_whose_window_stands_still_keeps_the_path() {
    for packets in [100, 120, 140] {
        let mut path = settled();
        path.steady
            .extend((0..packets).map(|n| path.now + n * 1000));
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
