// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Vulture against its paper: algorithms 1 to 6, one by one.

use super::simulated::{full, ticked, MSS};
use netnice_cores::receiver::{Core, Look, Segment, PARAMETERS};

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
        Self::with(name, &[])
    }

    fn with(name: &str, params: &[(&str, u32)]) -> Self {
        let mut core = Core::new(name);
        for (name, value) in params {
            core.params[PARAMETERS.iter().position(|p| p == name).expect(name)] = *value;
        }
        core.ack(0, 10_000_000, 10_000_000);
        Feed {
            core,
            now: 10_000_000,
            sent: 5_000_000,
            seq: 0,
        }
    }

    /// It has left its window as it was, and measures again; no segment waits for the other of its pair.
    fn measuring(name: &str) -> Self {
        let mut feed = Self::new(name);
        feed.decide();
        assert_eq!(feed.round(20, 4000, 1000).policy, FIX);
        feed.decide();
        feed
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

    /// A round of pairs, each with a PIV of so many jiffies. A segment may be late; none comes too early.
    fn pairs(&mut self, jiffies: &[i32]) -> Look {
        let mut late = 0;
        for piv in jiffies {
            let us = 4000 * piv;
            for next in [(-us).max(0), us.max(0)] {
                self.segment(40_000, (40_000 + next - late) as u32, false);
                late = next;
            }
        }
        self.segment(40_000, (40_000 - late) as u32, false);
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
fn psi_is_the_least_time_between_the_two_of_a_pair() {
    for psi in [1, 5, 10] {
        let mut feed = Feed::with("vulture", &[("psi", psi)]);
        feed.decide();
        for _ in 1..psi {
            assert_eq!(feed.segment(4000, 4000, false).pivs, 0, "{psi}");
        }
        assert_eq!(feed.segment(4000, 4000, false).pivs, 1, "{psi}");
    }
}

#[test]
fn a_passive_flow_measures_and_is_not_limited() {
    let mut feed = Feed::with("vulture", &[("passive", 1)]);
    feed.decide();
    let window = feed.acknowledge();
    assert!(window >= 1 << 29, "{window}");
    for _ in 0..3 {
        feed.round(20, 4000, 2000); // others: any other would halve
        assert_eq!(feed.core.look().pivs, 0, "each round is measured anew");
    }
    assert!(feed.acknowledge() >= window);
}

#[test]
fn a_flow_may_begin_with_more_than_its_senders_window() {
    let begun = |percent| Feed::with("vulture", &[("begins", percent)]).core.look().target;
    assert_eq!(begun(400), 4 * begun(100));
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

#[test]
fn a_positive_sum_or_more_than_half_positive_is_conservative() {
    for (pivs, aggressive) in [
        ([5, -1, -1, -1], 0), // the sum alone
        ([1, 1, 1, -3], 0),   // more than half alone, with a sum of 0
        ([1, 1, 1, -5], 0),   // and with one below
        ([1, 1, -1, -1], 1),  // half, with a sum of 0
        ([1, 1, 0, -3], 1),
    ] {
        let look = Feed::measuring("vulture").pairs(&pivs);
        assert_eq!(look.aggressive, aggressive, "{pivs:?}");
    }
}

#[test]
fn sizes_are_low_middle_and_high_as_printed_whatever_their_sign() {
    for (size, aggressive, conservative) in [
        (0, INCREASE, INCREASE),
        (1, INCREASE, FIX),
        (2, INCREASE, HALVE),
        (3, INCREASE, HALVE),
        (4, FIX, HALVE),
        (5, HALVE, HALVE),
        (6, HALVE, HALVE),
    ] {
        let mut pivs = [size, -size].repeat(8); // their sum is 0
        let look = Feed::measuring("vulture").pairs(&pivs);
        assert_eq!((look.policy, look.aggressive), (aggressive, 1), "{size}");
        pivs[1] = 1; // and now it is not; 15 of 16 are as before
        let look = Feed::measuring("vulture").pairs(&pivs);
        assert_eq!((look.policy, look.aggressive), (conservative, 0), "{size}");
    }
}

#[test]
fn more_than_seven_eighths_have_to_be_high_or_low() {
    for (size, other, policy) in [(5, 0, HALVE), (0, -4, INCREASE)] {
        for (count, expected) in [(7, FIX), (8, policy)] {
            let pivs = [vec![size; count], vec![other]].concat();
            let look = Feed::measuring("vulture").pairs(&pivs);
            assert_eq!(look.policy, expected, "{count} of {size}");
        }
    }
}

#[test]
fn to_halve_each_ack_lowers_the_window_by_what_it_acknowledges() {
    let mut feed = Feed::new("vulture");
    feed.decide();
    feed.acknowledge();
    let (before, acked) = (feed.core.look().window, feed.seq);
    feed.seq += MSS; // one is missing
    assert_eq!(feed.segment(4000, 4000, false).policy, HALVE);
    for acks in 1..=8 {
        let window = feed.core.ack(acked + acks * MSS, 0, feed.now);
        assert_eq!(window, (before - acks * MSS).max(before / 2));
    }
}

#[test]
fn fix_leaves_the_window_as_it_is() {
    let mut feed = Feed::new("vulture");
    feed.decide();
    feed.acknowledge();
    let look = feed.round(20, 4000, 1000);
    assert_eq!(look.policy, FIX);
    for _ in 0..10 {
        feed.segment(4000, 4000, false);
        assert_eq!(feed.acknowledge(), look.window);
    }
}

/// The paper has one in each round, those of waiting, too.
#[test]
fn it_grows_by_one_segment_in_every_second_round() {
    let mut feed = Feed::new("vulture");
    feed.decide();
    let first = feed.acknowledge();
    for grown in 1..=3 {
        assert_eq!(feed.round(20, 4000, 0).policy, INCREASE);
        for _ in 0..20 {
            assert_eq!(feed.acknowledge(), first + grown * MSS);
            feed.segment(4000, 4000, false);
        }
        feed.decide(); // it has waited for a round
        assert_eq!(feed.acknowledge(), first + grown * MSS);
    }
}

/// Each is acknowledged, and echoes the ACK that let it go.
#[test]
fn a_segment_that_is_lost_is_not_in_the_estimate_of_its_round() {
    const WINDOW: u32 = 20;
    const LOST: u32 = 60;
    let at = |segment: u32| 10_000_000 + 4000 * segment;
    let mut core = Core::new("vulture");
    for segment in (0..LOST + WINDOW).filter(|&segment| segment != LOST) {
        let now = at(segment);
        let echoed = if segment < WINDOW { 0 } else { at(segment - WINDOW) };
        core.arrival(&full(now, segment * MSS, now / 1000, echoed));
        core.ack((segment + 1).min(LOST) * MSS, ticked(now), now);
        if segment >= WINDOW {
            let missing = u32::from(segment > LOST);
            assert_eq!(core.look().estimate, (WINDOW - missing) * MSS, "{segment}");
        }
    }
}

/// It knows no base: what takes longer, evenly, is not congested.
#[test]
fn a_way_that_becomes_longer_is_as_free_as_before() {
    for name in ["vulture", "vulture_jiffies"] {
        let mut feed = Feed::new(name);
        feed.decide();
        assert_eq!(feed.round(20, 4000, 0).policy, INCREASE);
        feed.segment(4000, 54_000, false); // while nothing is analysed: no pair is across it
        feed.decide();
        for _ in 0..3 {
            let look = feed.round(20, 4000, 0);
            assert_eq!((look.policy, look.aggressive), (INCREASE, 1), "{name}");
            feed.decide();
        }
    }
}
