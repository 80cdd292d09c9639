// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the next core's sender does where today's has a known miss (known_misses.rs).

use netnice_cores::decision::{explained, packet_after, Report};
use netnice_cores::{Algorithm, Recovery, Siblings, ONE};

use crate::feed::{base_after, Feeder, BASE_US};
use crate::path::{MS, SECOND};

fn flow() -> Feeder {
    Feeder::at(Algorithm::Small, &[], 16.0)
}

#[test]
fn a_flow_of_five_minutes_gives_up_what_it_has_above_its_siblings() {
    let mut flow = flow();
    flow.now_us += 301 * SECOND;
    flow.core.restart(flow.now_us, flow.delivered);
    flow.round(BASE_US);
    flow.set_window(16.0);
    flow.core.siblings = Some(Siblings {
        flows: 4,
        window: 8 * ONE,
        ..Siblings::default()
    });
    flow.round(BASE_US);
    assert!(flow.window() < 16.0, "{}", flow.window());
}

#[test]
fn round_trips_of_two_seconds_and_more_do_not_stand_still() {
    let moving = (0..40).map(|n| 2_200 * MS + n % 4 * 300 * MS);
    assert_eq!(base_after(Algorithm::Small, 400 * MS, moving), BASE_US);
}

#[test]
fn a_queue_that_stands_still_is_tried_as_the_path() {
    assert_eq!(
        base_after(Algorithm::Small, 400 * MS, (0..20).map(|_| 120 * MS)) / MS,
        119,
        "in units of 64 us"
    );
}

#[test]
fn a_loss_that_was_none_tells_nothing_of_the_buffer() {
    let limit = |lost: bool, undone: bool| {
        let mut flow = flow();
        if lost {
            flow.core.recovery(Recovery::Reduced);
            flow.core.recovery(Recovery::Open);
        }
        if undone {
            flow.core.undo();
        }
        flow.round(BASE_US);
        flow.core.flow.rtt.max
    };
    assert_eq!(limit(true, true), limit(false, false));
    assert!(limit(true, false) < limit(false, false));
}

#[test]
fn a_pause_begins_a_round() {
    let mut flow = flow();
    flow.mixed_round(&[(14, 2 * BASE_US)]);
    let before = flow.window();
    flow.now_us += 60 * SECOND;
    flow.core.restart(flow.now_us, flow.delivered);
    flow.round(BASE_US);
    assert!(flow.window() >= before, "{before} {}", flow.window());
}

#[test]
fn a_flow_explains_the_part_of_the_queue_that_it_has_of_the_path() {
    // 20 segments of 500 us use a quarter of 44 ms
    let report = Report {
        base: 40_000,
        queue: 4_000,
        packet: 500,
        siblings: 1,
        ..Report::default()
    };
    assert_eq!(explained(&report, 20 * ONE), 909 + 250);
    assert_eq!(explained(&Report { siblings: 4, ..report }, 20 * ONE), 3_636 + 250);
    let unknown = Report { packet: 0, ..report };
    assert_eq!(
        explained(&unknown, 20 * ONE),
        u32::MAX,
        "all, if a packet's time is unknown"
    );
    assert_eq!(explained(&unknown, ONE / 2), 0);
}

#[test]
fn a_packet_takes_what_two_thirds_of_the_pairs_are_apart() {
    let after = |spacings: &[u32]| spacings.iter().fold(0, |known, s| packet_after(known, *s, 0, 1_200, 1));
    assert_eq!(after(&[75]), 75);
    let jitter: Vec<u32> = (0..600).map(|i| 60 + i * 7 % 31).collect();
    assert!((65..=73).contains(&after(&jitter)), "{}", after(&jitter));
    let small: Vec<u32> = [1].into_iter().chain([75; 100]).collect();
    assert!(
        (70..=77).contains(&after(&small)),
        "one of a small segment is forgotten"
    );
    assert_eq!(packet_after(75, 20, 400, 1_200, 1), 75, "they left apart");
}
