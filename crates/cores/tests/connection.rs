// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a connection makes of the kernel's facts, and what goes along when a live
//! connection changes its level.

use netnice_cores::{Ack, Algorithm, Core, Flow, Send, DELAYED, ONE, RETRANSMITTED};
use proptest::prelude::*;

use crate::feed::{Feeder, BASE_US, LEVELS};

#[test]
fn the_rtt_of_a_retransmission_is_not_believed() {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
    let usual = flow.ack(2, flow.delivered.wrapping_sub(1), BASE_US / 10);
    flow.core.on_ack(&Ack {
        flags: RETRANSMITTED,
        ..usual
    });
    assert_eq!(flow.core.flow.rtt.min, BASE_US);
    flow.core.on_ack(&usual);
    assert_eq!(flow.core.flow.rtt.min, BASE_US / 10);
}

#[test]
fn an_ack_that_was_delayed_or_is_of_all_that_flew_tells_nothing_of_the_queue() {
    let late = |acked, in_flight, flags| {
        let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
        let ack = Ack {
            in_flight,
            flags,
            ..flow.ack(acked, flow.delivered.wrapping_sub(1), 10 * BASE_US)
        };
        flow.core.on_ack(&ack);
        flow.core.flow.round.slow > 0
    };
    assert!(late(2, 16, 0));
    assert!(late(1, 16, 0));
    assert!(!late(2, 16, DELAYED));
    assert!(!late(1, 0, 0));
}

#[test]
fn an_ack_before_the_connection_has_started_changes_nothing() {
    let mut core = Core::new(Algorithm::Netnice, 1_000_000, BASE_US);
    core.flow = Flow::default();
    let ack = Ack {
        acked: 2,
        rtt_us: BASE_US,
        ..Ack::default()
    };
    assert_eq!(core.on_ack(&ack), Send::default());
    assert_eq!(core.window(), 0);
}

const QUEUED_US: u32 = 3 * BASE_US;

/// As setsockopt(TCP_CONGESTION) does it: the old one leaves, its memory is cleared, the new one starts.
fn switched(flow: &Feeder, to: Algorithm, srtt_us: u32) -> Feeder {
    let (word, send) = flow.core.leave();
    let mut core = Core::new(to, flow.now_us, srtt_us);
    core.flow.round.end = flow.delivered;
    core.flow.drained = flow.delivered;
    core.inherit(word, send.cwnd);
    Feeder {
        core,
        now_us: flow.now_us,
        delivered: flow.delivered,
        last: send,
    }
}

fn level() -> impl Strategy<Value = Algorithm> {
    prop::sample::select(LEVELS.to_vec())
}

proptest! {
    #[test]
    fn the_base_is_kept_over_any_number_of_switches(
        from in level(),
        path in prop::collection::vec((level(), BASE_US..8 * BASE_US), 1..12),
        window in 0.01..400.0,
    ) {
        let mut flow = Feeder::at(from, &[], window);
        for (to, rtt) in path {
            flow.round(rtt);
            flow = switched(&flow, to, rtt);
            prop_assert_eq!(flow.core.flow.rtt.min, BASE_US);
            prop_assert!(flow.core.flow.rtt.max >= 2 * BASE_US);
        }
    }

    #[test]
    fn a_large_window_goes_along_and_a_small_one_begins_anew(
        from in level(), to in level(), window in 0.01..400.0,
    ) {
        let flow = Feeder::at(from, &[], window);
        let after = switched(&flow, to, BASE_US).core;
        if window >= 11.0 {
            prop_assert_eq!(after.window(), flow.core.window() / ONE * ONE);
            prop_assert_eq!(after.flow.win.ssthresh, after.window(), "no slow start from there");
        } else {
            prop_assert_eq!(after.window(), Core::new(to, 0, BASE_US).window());
        }
    }

    #[test]
    fn words_of_others_mean_nothing(word in 0u32..0xa000_0000, cwnd in 1u32..1000, to in level()) {
        let mut core = Core::new(to, 0, BASE_US);
        prop_assert!(!core.inherit(word, cwnd));
        prop_assert_eq!(core.window(), Core::new(to, 0, BASE_US).window());
    }
}

/// Segments in the window after `rounds` rounds with a queue that does not go away.
fn after_a_queue(mut flow: Feeder, rounds: u32) -> f64 {
    for _ in 0..rounds {
        flow.round(QUEUED_US);
    }
    flow.window()
}

#[test]
fn who_is_switched_while_a_queue_stands_still_sees_it() {
    for from in LEVELS {
        for to in LEVELS {
            let mut flow = Feeder::at(from, &[], 40.0);
            flow.round(QUEUED_US);
            let kept = after_a_queue(switched(&flow, to, QUEUED_US), 12);
            assert!(kept < 1.0, "{from:?} to {to:?}: {kept}");

            let mut fresh = Feeder {
                core: Core::new(to, flow.now_us, QUEUED_US),
                ..flow
            };
            fresh.core.flow.round.end = fresh.delivered;
            let lost = after_a_queue(fresh, 12);
            assert!(
                lost > 2.0,
                "without its legacy {to:?} takes the queue for the path: {lost}"
            );
        }
    }
}

#[test]
fn a_flow_that_knows_nothing_leaves_nothing() {
    for algorithm in LEVELS {
        let (word, _) = Core::new(algorithm, 0, BASE_US).leave();
        assert_eq!(word, 0, "{algorithm:?}");
    }
}

#[test]
fn a_change_of_level_keeps_base_and_window() {
    let mut core = Core::new(Algorithm::Netnice2, 1_000_000, 90_000);
    core.resume(20_000, 40);
    assert_eq!(core.flow.rtt.min, 20_000);
    assert_eq!(core.window(), 40 * ONE);
    assert_eq!(core.flow.win.ssthresh, 40 * ONE, "no slow start from there");
    let mut fresh = Core::new(Algorithm::Netnice2, 1_000_000, 90_000);
    let first = fresh.window();
    fresh.resume(20_000, 10);
    assert_eq!(fresh.window(), first, "a hand-over's least window is not the flow's");
}
