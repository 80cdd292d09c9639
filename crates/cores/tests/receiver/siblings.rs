// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! TIDE's floor: how little a flow asks for hangs on whether others of its host are at theirs.

use crate::arriving::MSS;
use crate::simulated::{Path, SECOND};

/// A stranger whose hundred and twenty packets keep a queue of 45 ms.
fn join(path: &mut Path) {
    path.steady = (0..120).map(|n| path.now + n * 1000).collect();
}

/// So many flows of one host or of several, each on a path of its own, after twentieths of a second beside a stranger: their
/// targets in bytes.
fn backed_off(flows: usize, shared: bool, twentieths: usize) -> Vec<u32> {
    let mut paths: Vec<Path> = (0..flows).map(|_| Path::new("tide")).collect();
    if shared {
        let siblings = paths[0].core.siblings.clone();
        paths
            .iter_mut()
            .for_each(|path| path.core.siblings = siblings.clone());
    }
    for step in 0..200 + twentieths {
        for path in &mut paths {
            if step == 200 {
                join(path);
            }
            path.run(SECOND / 20, 0.0);
        }
    }
    paths.iter().map(|path| path.core.look().target).collect()
}

#[test]
fn alone_a_flow_keeps_a_segment_in_flight() {
    assert_eq!(backed_off(1, true, 100), [MSS]);
}

#[test]
fn beside_siblings_a_window_holds_no_full_segment() {
    for flows in [2, 4] {
        let targets = backed_off(flows, true, 20);
        assert!(targets.iter().all(|&target| target == 1024), "{targets:?}");
    }
}

#[test]
fn after_a_pause_siblings_change_nothing() {
    assert_eq!(backed_off(4, true, 100), [MSS; 4]);
}

#[test]
fn flows_of_other_hosts_are_no_siblings() {
    assert_eq!(backed_off(2, false, 20), [2 * MSS, 2 * MSS]);
}

#[test]
fn siblings_that_left_are_forgotten() {
    let (mut stays, mut leaves) = (Path::new("tide"), Path::new("tide"));
    leaves.core.siblings = stays.core.siblings.clone();
    for path in [&mut stays, &mut leaves] {
        path.run(10 * SECOND, 0.0);
        join(path);
        path.run(2 * SECOND, 0.0);
    }
    stays.run(2 * SECOND, 0.0);
    assert_eq!(stays.core.look().target, MSS);
    stays.steady.clear();
    stays.run(10 * SECOND, 0.0);
    let (used, _) = stays.run(10 * SECOND, 0.0);
    assert!(used > 0.97, "comes back to {used}");
}
