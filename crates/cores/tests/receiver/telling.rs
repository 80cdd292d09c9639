// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! When the kernel is told a window: it overwrites what it was told, and tells nobody.

use crate::arriving::{full, ticked, MSS};
use netnice_cores::receiver::Core;

/// A flow that acknowledges each segment, and the sequence it has reached.
struct Flow {
    core: Core,
    seq: u32,
}

impl Flow {
    fn new() -> Self {
        let mut flow = Flow {
            core: Core::new("tide"),
            seq: 0,
        };
        flow.next();
        flow
    }

    /// One more segment and its ACK.
    fn next(&mut self) -> u32 {
        let now = 10_000 + self.seq / MSS;
        self.core.arrival(&full(now, self.seq, now / 1000, 9_000));
        self.seq += MSS;
        self.core.ack(self.seq, ticked(now), now)
    }
}

#[test]
fn a_window_that_changes_is_told_at_once() {
    let mut flow = Flow::new();
    for window in [100_000, 100_001, 99_999, 2_896, 50_000_000, MSS] {
        assert!(flow.core.tell(window), "{window}");
        assert!(!flow.core.tell(window), "{window}, again");
    }
}

#[test]
fn one_that_does_not_is_told_again_for_each_256th_that_is_acknowledged() {
    let mut flow = Flow::new();
    let window = 256 * 10 * MSS;
    assert!(flow.core.tell(window));
    let told: Vec<_> = (1..=40)
        .filter(|_| {
            flow.next();
            flow.core.tell(window)
        })
        .collect();
    assert_eq!(told, [10, 20, 30, 40]);
}

#[test]
fn windows_of_up_to_256_segments_are_told_with_each_ack() {
    let mut flow = Flow::new();
    for window in [2 * MSS, 256 * MSS] {
        assert!(flow.core.tell(window));
        flow.next();
        assert!(flow.core.tell(window), "{window}");
    }
}

#[test]
fn the_kernel_gets_its_window_back_once() {
    let mut flow = Flow::new();
    assert!(!flow.core.tell(0), "it never lost it");
    assert!(flow.core.tell(MSS));
    assert!(flow.core.tell(0));
    flow.next();
    assert!(!flow.core.tell(0));
}
