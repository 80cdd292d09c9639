// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Connections that have a rate together: what each is to have at least, and the window that keeps it.

use netnice_cores::{group_share, share_decoded, share_encoded, Algorithm, Group, Recovery, ONE};

use crate::feed::{Feeder, BASE_US, MSS};

const TURN_US: u32 = 1 << 20;
const RATE: u32 = 8_000;

/// Connections end a round in a turn, with so many bytes each: what the last of them is to have at least.
fn turn(group: &mut Group, number: u32, flows: u32, bytes: u32) -> u32 {
    let begins = number * TURN_US;
    (0..flows)
        .map(|i| group_share(group, RATE, begins - 1, begins + 1 + i, bytes))
        .last()
        .expect("a connection")
}

/// Bytes of a turn at so many kbit/s.
fn bytes(rate: u32) -> u32 {
    (u64::from(rate) * u64::from(TURN_US) / 8_000) as u32
}

#[test]
fn without_a_rate_there_is_no_share() {
    assert_eq!(group_share(&mut Group::default(), 0, 0, TURN_US, 1_000_000), 0);
}

#[test]
fn connections_that_are_busy_share_the_rate() {
    let mut group = Group::default();
    assert_eq!(turn(&mut group, 10, 1, bytes(RATE)), RATE);
    assert_eq!(turn(&mut group, 11, 4, bytes(RATE / 4)), RATE / 4);
    let one = turn(&mut group, 12, 1, bytes(RATE));
    assert_eq!(one, RATE / 4, "those of the turn before count");
    assert_eq!(turn(&mut group, 13, 1, bytes(RATE)), RATE);
}

#[test]
fn what_a_group_lacks_is_kept_for_it_and_what_it_has_anyway_is_not() {
    let mut group = Group::default();
    turn(&mut group, 10, 4, bytes(RATE / 8));
    let lacking = turn(&mut group, 11, 4, bytes(RATE / 8));
    assert!(lacking > RATE / 4, "{lacking}");
    let mut last = RATE;
    for number in 12..30 {
        let share = turn(&mut group, number, 4, bytes(RATE));
        assert!(share <= last, "{share}");
        last = share;
    }
    assert!(last < RATE / 100, "{last}");
    turn(&mut group, 30, 4, 0);
    turn(&mut group, 31, 4, 0);
    let soon = turn(&mut group, 32, 4, 0);
    assert!(soon >= RATE / 4, "{soon}");
}

#[test]
fn no_share_is_more_than_the_rate_and_a_quarter() {
    let mut group = Group::default();
    for number in 10..40 {
        assert!(turn(&mut group, number, 3, 1) <= RATE + RATE / 4);
    }
}

#[test]
fn a_byte_holds_a_share_within_an_eighth() {
    assert_eq!(share_decoded(share_encoded(0)), 0);
    for share in (1..100).chain([8_191, 8_192, 1_000_000, (1 << 28) + (1 << 26)]) {
        let kept = share_decoded(share_encoded(share));
        assert!(kept <= share && kept >= share - share / 8, "{share}: {kept}");
    }
}

/// Segments of a window that has `share` kbit/s, as a sender keeps it, in a round trip of this time.
fn window_of(share: u32, rtt_us: u32) -> f64 {
    f64::from(share_decoded(share_encoded(share))) * f64::from(rtt_us) / 8_000.0 / f64::from(MSS)
}

/// A flow of sixteen segments that meets a queue far above its limit, round after round.
fn congested(share: u32, rounds: u32) -> Feeder {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
    flow.core.flow.share = share_encoded(share);
    for _ in 0..rounds {
        flow.round(4 * BASE_US);
    }
    flow
}

#[test]
fn delay_takes_no_window_below_its_share() {
    for share in [500, 1_000] {
        let least = window_of(share, 4 * BASE_US);
        let window = congested(share, 60).window();
        assert!((window - least).abs() < 0.05 * least, "{window}, not {least}");
    }
    assert!(congested(0, 60).window() < 0.5);
}

#[test]
fn below_its_share_a_window_grows_by_a_segment_a_round() {
    let mut flow = congested(0, 30);
    flow.core.flow.share = share_encoded(1_000);
    for _ in 0..3 {
        let before = flow.window();
        flow.round(4 * BASE_US);
        assert!(
            (flow.window() - before - 1.0).abs() < 0.01,
            "{before}, then {}",
            flow.window()
        );
    }
}

#[test]
fn a_loss_leaves_seven_tenths_of_what_is_below_the_share_as_cubic_does() {
    let mut flow = congested(1_000, 60);
    let before = flow.window();
    flow.core.recovery(Recovery::Reduced);
    assert!(flow.window() <= before / 2.0 + 1.0 / f64::from(ONE));
    flow.round(4 * BASE_US);
    assert!(
        (flow.window() / before - 0.7).abs() < 0.01,
        "{} of {before}",
        flow.window()
    );
}

#[test]
fn a_share_lifts_nothing_of_a_path_that_is_free() {
    let (mut with, mut without) = (congested(0, 0), congested(0, 0));
    with.core.flow.share = share_encoded(100);
    for _ in 0..20 {
        with.round(BASE_US);
        without.round(BASE_US);
        assert_eq!(with.window(), without.window());
    }
}
