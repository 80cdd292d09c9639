// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A live connection changes its level: what is known of the path goes along, by the very code of the shim.

mod feed;

use feed::{Feeder, BASE_US};
use netnice_cores::{Algorithm, Core, ONE};
use proptest::prelude::*;

const LEVELS: [Algorithm; 3] = [Algorithm::Netnice, Algorithm::Netnice1, Algorithm::Netnice2];
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
