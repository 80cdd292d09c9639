// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The sender's core as a receiver: what is told to it, and what becomes of its window.

use crate::arriving::MSS;
use crate::simulated::{Path, SECOND};

#[test]
fn it_fills_an_idle_path_and_keeps_its_queue_short() {
    let mut path = Path::new("as_sender");
    path.run(20 * SECOND, 0.0);
    let (used, queue) = path.run(20 * SECOND, 0.0);
    assert!(used > 0.95, "{used}");
    assert!(queue < 8_000, "{queue} us");
}

#[test]
fn it_gives_way_to_a_stranger_and_comes_back() {
    let mut path = Path::new("as_sender");
    path.run(10 * SECOND, 0.0);
    path.run(2 * SECOND, 0.8);
    let (used, _) = path.run(10 * SECOND, 0.8);
    assert!(used < 0.1, "still uses {used}");
    path.run(8 * SECOND, 0.0);
    let (used, _) = path.run(10 * SECOND, 0.0);
    assert!(used > 0.9, "came back to {used}");
}

#[test]
fn a_hole_is_the_senders_to_answer() {
    let mut path = Path::new("as_sender");
    path.run(10 * SECOND, 0.0);
    let before = path.core.look().target;
    path.next = path.next.wrapping_add(MSS);
    path.run(SECOND / 20, 0.0);
    let after = path.core.look().target;
    assert!(after >= before - MSS, "{before} {after}");
}
