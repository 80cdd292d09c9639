// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The picture of W in docs/research/how-it-works.md: what it shows, and that it is of this core.

use std::fs;
use std::path::Path;

use netnice_cores::ONE;

#[allow(dead_code)] // its main
#[path = "../examples/window_over_time.rs"]
mod window_over_time;

use window_over_time::{picture, run, OTHER};

#[test]
fn the_committed_picture_is_of_this_core() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/window.svg");
    let committed = fs::read_to_string(file).expect("docs/pictures/window.svg");
    assert!(
        committed == picture(),
        "the core draws another picture: run 'make window', and look at it"
    );
}

/// What the page says of it.
#[test]
fn w_falls_beside_the_other_flow_and_returns() {
    let record = run();
    let w = |second: f64| {
        let before = record
            .steps
            .iter()
            .rev()
            .find(|step| f64::from(step.us) <= second * 1e6);
        f64::from(before.expect("a step").w) / f64::from(ONE)
    };
    assert!((60.0..80.0).contains(&w(7.9)), "fills the path: {}", w(7.9));
    assert!(w(17.9) < 0.05, "has yielded: {}", w(17.9));
    assert!((60.0..80.0).contains(&w(22.0)), "is back: {}", w(22.0));
    let turns = |name: &str, us: &std::ops::Range<u32>| {
        let found = record
            .turns
            .iter()
            .filter(|(turn, step)| *turn == name && us.contains(&step.us));
        found.count()
    };
    assert!(turns("cut", &OTHER) >= 4, "round by round");
    assert!(turns("drain", &(0..OTHER.start)) >= 1);
    assert!(turns("drain", &(OTHER.end..u32::MAX)) >= 1);
    assert!(record
        .steps
        .iter()
        .any(|step| step.phase == "probing" && step.us > OTHER.end));
}

#[test]
fn the_queue_is_short_without_the_other_flow_and_above_the_limit_beside_it() {
    let rows = run().queue;
    let alone = rows.iter().filter(|row| row.0 > 22_000_000).map(|row| row.1);
    assert!(alone.max() < Some(6_000), "a few segments");
    let above = rows.iter().filter(|row| OTHER.contains(&row.0) && row.1 > row.2);
    assert!(above.count() > rows.len() / 6, "for five seconds");
}
