// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What netnice does beyond the paper where a host has several flows to one place.

mod feed;

use feed::{Feeder, BASE_US};
use netnice_cores::{Algorithm, Siblings, ONE};

const QUEUED_US: u32 = BASE_US + BASE_US / 2;

fn siblings(flows: u32, mean: f64) -> Siblings {
    Siblings {
        flows,
        window: (mean * f64::from(ONE)) as u32,
        ..Siblings::default()
    }
}

fn about(window: f64, expected: f64) -> bool {
    (window - expected).abs() < 0.1
}

/// A flow of sixteen segments, one of four to the same place, old enough to know the path.
fn known(mean: f64) -> Feeder {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
    flow.now_us += 10_000_000;
    flow.round(BASE_US);
    flow.set_window(16.0);
    flow.core.siblings = Some(siblings(4, mean));
    flow
}

#[test]
fn the_round_after_a_halving_is_not_judged() {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
    for expected in [8.0, 8.0, 4.0] {
        flow.round(QUEUED_US);
        assert_eq!(flow.window(), expected);
    }
    let mut paper = Feeder::at(Algorithm::Nice, &[], 16.0);
    for expected in [8.0, 4.0] {
        paper.round(QUEUED_US);
        assert_eq!(paper.window(), expected, "every round, as the paper");
    }
}

#[test]
fn flows_of_a_host_move_to_their_mean() {
    let mut above = known(8.0);
    above.round(BASE_US);
    assert!(
        about(above.window(), 17.0 - 9.0 / 4.0),
        "{}",
        above.window()
    );
    let mut starting = known(8.0);
    starting.now_us -= 9_000_000;
    starting.round(BASE_US);
    assert_eq!(starting.window(), 17.0, "who only guesses does not share");
}

#[test]
fn of_a_crowd_who_has_what_would_do_for_all_shares_it_though_they_are_sub_packet() {
    let shared = 17.0 - (17.0 - 2.1) / 4.0;
    for (flows, mean, expected) in [(32, 1.9, 17.0), (32, 2.1, shared), (31, 2.1, 17.0)] {
        let mut flow = known(mean);
        flow.core.siblings = Some(Siblings {
            sub_packet: flows - 1,
            ..siblings(flows, mean)
        });
        flow.round(BASE_US);
        assert!(
            about(flow.window(), expected),
            "{flows} of {mean}: {}",
            flow.window()
        );
    }
}

#[test]
fn flows_of_a_host_drain_their_queue_before_they_halve() {
    let mut flow = known(16.0);
    flow.core.siblings = Some(siblings(4, 0.0));
    flow.round(QUEUED_US);
    let drained = flow.window();
    flow.round(QUEUED_US);
    let held = flow.window();
    flow.round(QUEUED_US);
    let mut alone = known(16.0);
    alone.core.siblings = Some(siblings(1, 0.0));
    alone.round(QUEUED_US);
    assert_eq!(alone.window(), 8.0);
    // What they move to their mean of zero is a quarter each round.
    assert!(
        about(
            drained,
            16.0 * f64::from(BASE_US + 1000) / f64::from(QUEUED_US) * 0.75
        ),
        "{drained}"
    );
    assert!(about(held, drained * 0.75), "{held}");
    assert!(about(flow.window(), held / 2.0 * 0.75), "{}", flow.window());
}
