// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Which flows count as siblings: those of one user to one destination that fill their windows.

use netnice_cores::{Algorithm, Core, Destination, Recovery, APP_LIMITED};

use crate::feed::{Feeder, BASE_US};

const TURN_US: u32 = 1 << 22;

/// A flow of sixteen segments that is not in slow start and has had no round, to a destination of its own.
fn alone() -> Feeder {
    let mut flow = Feeder::fresh(Algorithm::Netnice, &[]);
    flow.set_window(16.0);
    flow
}

/// Another flow of its host.
fn beside(other: &Feeder, change: impl Fn(&mut Destination)) -> Feeder {
    let mut flow = alone();
    flow.core = flow.core.beside(&other.core);
    change(&mut flow.core.to);
    flow.now_us = other.now_us;
    flow
}

/// The siblings below one segment that a flow knows of, after a round.
fn asking(flow: &mut Feeder) -> u8 {
    flow.set_window(0.5);
    flow.round(BASE_US);
    flow.core.flow.win.asking
}

/// How many a flow counts when another one, changed so, has had a round.
fn counts(change: impl Fn(&mut Destination)) -> u8 {
    let mut first = alone();
    let mut second = beside(&first, change);
    asking(&mut second);
    asking(&mut first)
}

#[test]
fn a_destination_is_compared_whole() {
    assert_eq!(counts(|_| ()), 2);
    let differences: [fn(&mut Destination); 5] = [
        |to| to.network[0] = 1,
        |to| to.network[1] = 1,
        |to| to.user = 1,
        |to| to.space = 1,
        |to| to.algorithm = 99,
    ];
    for change in differences {
        assert_eq!(counts(change), 1);
    }
}

/// How many a flow counts when its sibling has done this.
fn beside_one_that(does: impl Fn(&mut Feeder)) -> u8 {
    let mut first = alone();
    let mut second = beside(&first, |_| ());
    second.set_window(0.5);
    does(&mut second);
    asking(&mut first)
}

#[test]
fn only_flows_that_fill_their_windows_count() {
    assert_eq!(beside_one_that(|flow| flow.round(BASE_US)), 2);
    assert_eq!(beside_one_that(|_| ()), 1, "idle");
    assert_eq!(
        beside_one_that(|flow| {
            flow.core.recovery(Recovery::Timeout);
            flow.round(BASE_US);
        }),
        1,
        "repairing a loss"
    );
    assert_eq!(
        beside_one_that(|flow| {
            flow.core.flow.win.ssthresh = u32::MAX;
            flow.round(BASE_US);
        }),
        1,
        "slow start"
    );
    assert_eq!(
        beside_one_that(|flow| {
            let mut ack = flow.ack(2, flow.delivered, BASE_US);
            ack.flags = APP_LIMITED;
            flow.core.on_ack(&ack);
        }),
        1,
        "its application has no data"
    );
}

#[test]
fn a_flow_that_falls_silent_counts_for_two_turns() {
    let mut first = alone();
    let mut second = beside(&first, |_| ());
    asking(&mut second);
    for (turn, expected) in [(0, 2), (1, 2), (2, 1), (3, 1)] {
        first.now_us = second.now_us / TURN_US * TURN_US + turn * TURN_US + 1;
        assert_eq!(asking(&mut first), expected, "turn {turn}");
    }
}

#[test]
fn a_user_keeps_no_place_from_another() {
    let mut mine = alone();
    asking(&mut mine);
    for address in 0..10_000 {
        let mut other = beside(&mine, |to| {
            to.user = 1;
            to.network[1] = address;
        });
        asking(&mut other);
    }
    let mut sibling = beside(&mine, |_| ());
    assert_eq!(asking(&mut sibling), 2);
    let mut late = beside(&mine, |to| {
        to.user = 2;
        to.network[1] = 77;
    });
    let mut later = beside(&late, |to| *to = late.core.to);
    asking(&mut late);
    assert_eq!(asking(&mut later), 2);
}

#[test]
fn a_taken_over_connection_does_not_grow_on_what_another_sent() {
    let mut flow = alone();
    flow.core = Core::new(Algorithm::Netnice, 1_000_000, BASE_US).taking_over(1000);
    let before = flow.window();
    for _ in 0..10 {
        let ack = flow.ack(2, u32::MAX - 5000, BASE_US);
        flow.core.on_ack(&ack);
    }
    assert_eq!(flow.window(), before);
    flow.round(BASE_US);
    flow.round(BASE_US);
    assert!(flow.window() > before);
}

#[test]
fn a_flow_counts_for_as_long_as_its_round_took() {
    let mut slow = alone();
    let mut fast = beside(&slow, |_| ());
    for _ in 0..4 {
        for _ in 0..50 {
            fast.set_window(32.0);
            fast.round(BASE_US);
        }
        slow.now_us = fast.now_us;
        asking(&mut slow);
    }
    fast.round(BASE_US);
    assert_eq!(
        fast.core.flow.win.asking, 1,
        "one of two, though it has a fiftieth of the rounds"
    );
}

#[test]
fn a_flow_that_is_silent_for_turns_counts_in_each() {
    let mut flow = alone();
    asking(&mut flow);
    flow.now_us += 5 * TURN_US;
    assert_eq!(asking(&mut flow), 5);
}
