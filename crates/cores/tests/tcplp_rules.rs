// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! TCP-LP (Kuzmanovic and Knightly), point by point: docs/research/ledbat.md names the test beside each statement.

use crate::path::{near, Clock, Path, BUFFER, MS, SECOND, USUAL};
use netnice_cores::{Algorithm, Recovery};

fn experienced(clock: Clock) -> Path {
    Path::new(Algorithm::Lp, clock).experienced()
}

/// Round trips with this queue from 40 segments on, after the mean has taken it in.
fn rounds(path: &mut Path, queue: u32, count: u32) {
    path.forward = queue;
    path.rounds(count);
}

#[test]
fn below_the_threshold_it_is_reno() {
    for queue in [0, BUFFER * 10 / 100] {
        let mut path = experienced(USUAL);
        rounds(&mut path, queue, 5);
        assert!(near(path.window(), 45.0), "{queue}: {}", path.window());
    }
}

#[test]
fn above_fifteen_percent_of_the_delay_range_it_halves() {
    let mut path = experienced(USUAL);
    path.forward = BUFFER * 20 / 100;
    let mut last = path.window();
    for _ in 0..60 {
        path.ack(2, MS, 40, false);
        if path.window() < last {
            assert!(near(path.window(), last / 2.0), "{last} {}", path.window());
            return;
        }
        last = path.window();
    }
    panic!("no reaction");
}

/// ACKs of a queue of so many percent of the buffer until the window halves, of 200.
fn acks_until_it_halves(percent: u32) -> Option<u32> {
    let mut path = experienced(USUAL);
    path.forward = BUFFER * percent / 100;
    (1..=200).find(|_| {
        let before = path.window();
        path.ack(2, MS, 40, false);
        path.window() < before
    })
}

#[test]
fn the_threshold_is_fifteen_percent_of_the_delay_range() {
    assert_eq!(acks_until_it_halves(14), None);
    assert_eq!(acks_until_it_halves(15), None);
    assert!(acks_until_it_halves(16).is_some());
}

#[test]
fn each_delay_moves_the_mean_by_an_eighth() {
    // the mean of n is the part 1 - (7/8)^n of a step: above 15/20 of it with the 11th, above 15/30 with the 6th
    assert_eq!(acks_until_it_halves(20), Some(11));
    assert_eq!(acks_until_it_halves(30), Some(6));
}

#[test]
fn one_delay_of_the_whole_buffer_is_no_indication() {
    let mut path = experienced(USUAL);
    path.forward = BUFFER;
    path.ack(2, MS, 40, false);
    assert!(path.window() >= 40.0, "{}", path.window());
    path.ack(2, MS, 40, false);
    assert!(path.window() <= 21.0, "two are: {}", path.window());
}

#[test]
fn a_loss_halves_once_and_a_timeout_leaves_one_segment() {
    let mut path = experienced(USUAL);
    path.core.recovery(Recovery::Reduced);
    path.core.recovery(Recovery::Reduced);
    assert_eq!(path.window(), 20.0);
    path.core.recovery(Recovery::Open);
    path.core.recovery(Recovery::Timeout);
    assert_eq!(path.window(), 1.0);
}

#[test]
fn while_it_watches_it_does_not_grow() {
    let mut path = experienced(USUAL);
    path.forward = BUFFER * 20 / 100;
    while path.window() > 30.0 {
        path.ack(2, MS, 40, false);
    }
    let halved = path.window();
    path.forward = 0; // the queue goes at once: no second indication
    for _ in 0..16 {
        path.ack(2, MS, 20, false);
    }
    assert_eq!(path.window(), halved);
    rounds(&mut path, 0, 8);
    assert!(path.window() > halved, "{}", path.window());
}

#[test]
fn persistent_congestion_takes_it_to_one_segment_without_slow_start_back() {
    let mut path = experienced(USUAL);
    rounds(&mut path, BUFFER * 20 / 100, 8);
    assert_eq!(path.window(), 1.0);
    rounds(&mut path, 0, 12); // the mean sinks and the watch ends
    let before = path.window();
    rounds(&mut path, 0, 5);
    assert!(path.window() <= before + 5.5, "no doubling: {before} {}", path.window());
}

#[test]
fn at_most_one_reaction_a_round_trip() {
    let mut path = experienced(USUAL);
    path.forward = BUFFER / 2;
    let mut last = path.window();
    let mut reactions = 0;
    for _ in 0..20 {
        path.ack(2, MS, 40, false); // all of one round
        reactions += (path.window() < last) as u32;
        last = path.window();
    }
    assert_eq!(reactions, 1);
}

#[test]
fn delays_are_only_learnt_before_the_first_loss() {
    let mut path = Path::new(Algorithm::Lp, USUAL);
    for queue in [0, 20, 60, 100] {
        path.forward = queue * MS;
        path.round();
    }
    assert!(path.window() > 100.0, "slow start goes on: {}", path.window());
    path.core.recovery(Recovery::Reduced);
    path.core.recovery(Recovery::Open);
    let after = path.window();
    path.round();
    assert!(path.window() < after, "and now they count: {}", path.window());
}

#[test]
fn after_a_timeout_reno_brings_it_back() {
    let mut path = experienced(USUAL);
    path.forward = BUFFER;
    path.hold(SECOND, 40.0); // the mean is high
    path.core.recovery(Recovery::Timeout);
    path.forward = 0;
    path.lone = true; // one segment at a time, each met by a delayed ACK
    for _ in 0..30 {
        path.ack(1, path.rtt(), 0, true);
    }
    path.lone = false;
    path.core.recovery(Recovery::Open);
    rounds(&mut path, 0, 5);
    assert!(path.window() > 10.0, "{}", path.window());
}

#[test]
fn a_queue_on_the_way_back_is_not_seen() {
    let mut path = experienced(USUAL);
    path.back = BUFFER;
    path.rounds(5);
    assert!(near(path.window(), 45.0), "{}", path.window());
}

#[test]
fn without_a_clock_the_round_trip_serves() {
    for clock in [Clock::None, Clock::Random] {
        let mut path = experienced(clock);
        rounds(&mut path, 0, 5);
        assert!(near(path.window(), 45.0), "{clock:?}: {}", path.window());
        rounds(&mut path, BUFFER / 2, 2);
        assert!(path.window() < 30.0, "{clock:?}: {}", path.window());
    }
}
