// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Vulture against its paper: algorithms 1 to 6, one by one.

use super::simulated::{full, ticked, MSS};
use netnice_cores::receiver::{Core, Look, Segment};

const FIX: u32 = 0;
const DOUBLE: u32 = 1;
const INCREASE: u32 = 2;
const HALVE: u32 = 3;

struct Feed {
    core: Core,
    now: u32,
    sent: u32,
    seq: u32,
}

impl Feed {
    fn new(name: &str) -> Self {
        let mut core = Core::new(name);
        core.ack(0, 10_000_000, 10_000_000);
        Feed {
            core,
            now: 10_000_000,
            sent: 5_000_000,
            seq: 0,
        }
    }

    /// A segment sent `sent` and arriving `arrived` microseconds after the last one; `fresh`: it answers an ACK just sent.
    fn segment(&mut self, sent: u32, arrived: u32, fresh: bool) -> Look {
        self.now += arrived;
        self.sent += sent;
        let echoed = if fresh { self.now } else { 0 };
        let segment = full(self.now, self.seq, self.sent / 1000, echoed);
        self.core.arrival(&segment);
        self.seq += MSS;
        self.core.look()
    }

    /// Ends a round and the wait for data that reflects its decision.
    fn decide(&mut self) -> Look {
        self.segment(4000, 4000, true);
        self.core.look()
    }

    /// A round of segments `spacing` apart whose arrival intervals grow by `stretch` microseconds each.
    fn round(&mut self, segments: u32, spacing: u32, stretch: u32) -> Look {
        for _ in 0..segments {
            self.segment(spacing, spacing.wrapping_add(stretch), false);
        }
        self.decide()
    }

    /// A hole, and everything that follows from it until the analysis goes on.
    fn halve(&mut self) {
        self.decide();
        self.acknowledge();
        self.seq += MSS;
        assert_eq!(self.segment(4000, 4000, false).policy, HALVE);
        for _ in 0..20 {
            self.segment(4000, 4000, false);
            self.acknowledge();
        }
        self.decide();
    }

    /// The window that the next ACK carries.
    fn acknowledge(&mut self) -> u32 {
        self.core.ack(self.seq, ticked(self.now), self.now)
    }
}

#[test]
fn intervals_are_taken_between_segments_five_jiffies_apart() {
    let mut feed = Feed::new("vulture");
    feed.decide(); // the first segment begins a flow and its first round
    for _ in 0..4 {
        assert_eq!(feed.segment(4000, 4000, false).pivs, 0);
    }
    assert_eq!(feed.segment(4000, 4000, false).pivs, 1, "20 ms: a pair");
}

#[test]
fn an_undisturbed_flow_grows_until_it_is_first_halved_and_then_doubles() {
    let mut feed = Feed::new("vulture");
    feed.decide();
    let look = feed.round(20, 4000, 0);
    assert_eq!((look.policy, look.aggressive), (INCREASE, 1));
    assert_eq!(look.target, look.window + MSS);
    feed.halve();
    let look = feed.round(20, 4000, 0);
    assert_eq!((look.policy, look.aggressive), (DOUBLE, 1));
    assert_eq!(look.target, 2 * look.window);
}

#[test]
fn a_segment_that_came_before_our_clock_was_known_makes_no_pair() {
    for offset in [1u32 << 20, (1u32 << 20).wrapping_neg()] {
        let mut feed = Feed::new("vulture");
        feed.core.arrival(&Segment {
            now_us: feed.sent.wrapping_add(offset << 10),
            bytes: MSS,
            segments: 1,
            ..Segment::default()
        });
        feed.seq += MSS;
        feed.decide();
        for _ in 0..20 {
            feed.segment(4000, 4000, false);
        }
        assert!((8..=12).contains(&feed.core.look().pivs), "{offset}");
    }
}

#[test]
fn the_last_reduction_of_a_halving_leaves_nothing_to_double() {
    let mut feed = Feed::new("vulture_jiffies");
    feed.decide();
    feed.halve();
    let look = feed.core.look();
    assert!(look.thresh <= look.window, "{look:?}");
    assert_eq!(feed.round(20, 4000, 0).policy, INCREASE);
}

#[test]
fn a_cautious_flow_is_never_aggressive() {
    let mut feed = Feed::new("vulture_cautious");
    feed.decide();
    let look = feed.round(40, 4000, 0);
    assert_eq!((look.policy, look.aggressive), (INCREASE, 0));
    feed.decide();
    let look = feed.round(40, 6000, 2000u32.wrapping_neg()); // its own queue drains: 2 jiffies
    assert_eq!((look.policy, look.aggressive), (HALVE, 0));
}

#[test]
fn a_stretched_flow_is_conservative_and_halves_at_two_jiffies() {
    let mut feed = Feed::new("vulture");
    feed.decide();
    let look = feed.round(20, 4000, 2000); // 5 intervals: 10 ms, more than 2 jiffies
    assert_eq!((look.policy, look.aggressive), (HALVE, 0));
}

#[test]
fn one_jiffy_is_neither_high_nor_low() {
    let mut feed = Feed::new("vulture");
    feed.decide();
    assert_eq!(feed.round(20, 4000, 1000).policy, FIX); // 5 ms
}

#[test]
fn compression_up_to_three_jiffies_is_low_in_aggressive_mode() {
    let mut feed = Feed::new("vulture");
    feed.decide();
    let look = feed.round(20, 6000, 2000u32.wrapping_neg()); // -8 ms: 2 jiffies, high if it were conservative
    assert_eq!((look.policy, look.aggressive), (INCREASE, 1));
}

#[test]
fn nothing_is_analysed_until_the_last_decision_shows() {
    let mut feed = Feed::new("vulture");
    feed.decide();
    feed.round(20, 4000, 0);
    for _ in 0..30 {
        assert_eq!(feed.segment(4000, 9000, false).pivs, 0);
    }
    feed.decide();
    for _ in 0..8 {
        feed.segment(4000, 4000, false);
    }
    assert!(feed.core.look().pivs > 0);
}

#[test]
fn a_hole_halves_and_is_remembered_as_the_threshold() {
    let mut feed = Feed::new("vulture");
    feed.decide();
    feed.acknowledge();
    let before = feed.core.look().window;
    feed.seq += MSS; // one is missing
    let look = feed.segment(4000, 4000, false);
    assert_eq!((look.policy, look.target), (HALVE, before / 2));
    assert_eq!(look.thresh, before);
}

#[test]
fn the_window_follows_by_the_bytes_acknowledged() {
    let mut feed = Feed::new("vulture");
    feed.decide();
    feed.halve();
    feed.acknowledge();
    let acked = feed.seq;
    let look = feed.round(20, 4000, 0);
    assert_eq!((look.policy, look.target), (DOUBLE, 2 * look.window));
    for acks in 1..=2 {
        let window = feed.core.ack(acked + acks * MSS, 0, feed.now);
        assert_eq!(window, look.window + acks * MSS);
    }
}

#[test]
fn the_paper_s_clock_sees_nothing_below_a_jiffy() {
    let mut fine = Feed::new("vulture");
    let mut coarse = Feed::new("vulture_jiffies");
    for feed in [&mut fine, &mut coarse] {
        feed.decide();
    }
    // 5 intervals of 4 ms stretched by 1 ms: one jiffy in the mean, whichever way it is rounded
    assert_eq!(fine.round(20, 4000, 1000).policy, FIX);
    let look = coarse.round(20, 4000, 200); // 1 ms: rounds to 0 or 4
    assert_ne!(look.policy, HALVE);
}
