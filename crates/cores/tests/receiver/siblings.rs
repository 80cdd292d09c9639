// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! TIDE's least window: how little a flow asks for depends on whether others of its host are at the least window.

use super::simulated::{Path, MSS, SECOND};
use netnice_cores::receiver::Siblings;

/// A stranger whose hundred and twenty packets keep a queue of 45 ms.
fn join(path: &mut Path) {
    path.steady = (0..120).map(|n| path.now + n * 1000).collect();
}

/// The targets, in bytes, of flows of one host or of several, each on a path of its own. Before that they were for some
/// twentieths of a second beside a flow that is no sibling.
fn backed_off(flows: usize, shared: bool, twentieths: usize) -> Vec<u32> {
    let mut paths: Vec<Path> = (0..flows).map(|_| Path::new("tide")).collect();
    if shared {
        let siblings = paths[0].core.siblings.clone();
        paths.iter_mut().for_each(|path| path.core.siblings = siblings.clone());
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
        let all = |most: u32, twentieths| {
            let targets = backed_off(flows, true, twentieths);
            targets.iter().all(|&target| target <= most)
        };
        let off = (1..15).find(|&t| all(2 * MSS, t)).expect("they back off");
        let least = backed_off(flows, true, off + 10);
        assert!(least.iter().all(|&target| target == 1024), "{least:?}");
        assert!((off + 8..off + 20).all(|t| all(1024, t)));
    }
}

#[test]
fn after_a_pause_siblings_change_nothing() {
    assert_eq!(backed_off(4, true, 100), [MSS; 4]);
}

#[test]
fn many_siblings_take_turns_at_a_segment() {
    let targets: Vec<u32> = (100..130).flat_map(|t| backed_off(12, true, t)).collect();
    assert!(targets.iter().all(|&target| target == MSS || target == 1024));
    let asking = targets.iter().filter(|&&target| target == MSS).count();
    let part = asking as f64 / targets.len() as f64;
    assert!((0.1..0.5).contains(&part), "{part} of the time");
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

/// By how many bytes a flow's window grows in each round after a flow that is no sibling has ended. To it, `flows` flows of
/// its host have a mean window of `window` bytes.
fn growth(flows: u32, window: u32) -> Vec<u32> {
    let mut path = Path::new("tide");
    let (mut targets, siblings) = (Vec::new(), path.core.siblings.clone());
    path.run(10 * SECOND, 0.0);
    join(&mut path);
    path.run(SECOND, 0.0);
    path.steady.clear();
    for _ in 0..400 {
        let count_us = path.now as u32;
        siblings.set(Siblings {
            flows,
            window,
            count_us,
            ..siblings.get()
        });
        path.run(SECOND / 100, 0.0);
        targets.push(path.core.look().target);
    }
    targets.dedup();
    targets.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()
}

#[test]
fn siblings_creep_as_one() {
    for flows in [1, 4, 16] {
        assert_eq!(growth(flows, 0)[3..6], [MSS / flows; 3]);
    }
}

#[test]
fn who_has_less_than_the_mean_creeps_as_if_alone() {
    assert_eq!(growth(16, u32::MAX), growth(1, 0));
}

#[test]
fn a_host_counts_its_downloads() {
    let mut paths: Vec<Path> = (0..3).map(|_| Path::new("tide")).collect();
    let siblings = paths[0].core.siblings.clone();
    for path in &mut paths {
        path.core.siblings = siblings.clone();
    }
    for step in 0..100 {
        for path in &mut paths[..if step < 50 { 3 } else { 2 }] {
            path.run(SECOND / 20, 0.0);
        }
        if step == 49 {
            assert_eq!(siblings.get().flows, 3);
        }
    }
    let (counted, windows) = (siblings.get(), [0, 1].map(|n| paths[n].core.look().target));
    assert_eq!(counted.flows, 2);
    assert!((windows[0].min(windows[1]) / 2..windows[0].max(windows[1]) * 2).contains(&counted.window));
}

#[test]
fn an_arrival_that_is_told_late_counts_no_one_anew() {
    let mut paths: Vec<Path> = (0..3).map(|_| Path::new("tide")).collect();
    let siblings = paths[0].core.siblings.clone();
    for path in &mut paths {
        path.core.siblings = siblings.clone();
        path.run(5 * SECOND, 0.0);
    }
    // The turn begins 40 ms after the arrivals to come: they are delayed ACKs', and backdated.
    let mut now = siblings.get();
    now.count_us = paths[2].now as u32 + 40_000;
    now.flows = 3;
    siblings.set(now);
    paths[2].run(SECOND / 50, 0.0);
    assert_eq!((siblings.get().count, siblings.get().flows), (now.count, 3));
}

/// What a download's target has become after it lost one segment without a queue, of what it was. Another one had lost so many
/// before; it is of the same host, or of another.
fn lost_one_after(others: u32, shared: bool) -> f64 {
    let (mut first, mut second) = (Path::new("tide"), Path::new("tide"));
    second.rtt = 300_000;
    (first.queues, second.queues) = (false, false);
    if shared {
        second.core.siblings = first.core.siblings.clone();
    }
    first.run(SECOND / 2, 0.0);
    first.loses = others;
    first.run(SECOND / 2, 0.0);
    second.run(SECOND, 0.0);
    let before = second.core.look().target;
    second.loses = 1;
    second.run(SECOND, 0.0);
    f64::from(second.core.look().target) / f64::from(before)
}

#[test]
fn what_one_finds_at_a_policer_holds_for_its_siblings() {
    for (others, shared, falls) in [(100, true, true), (1, true, false), (100, false, false)] {
        let part = lost_one_after(others, shared);
        assert_eq!(part < 1.0, falls, "{others} {shared}: {part}");
    }
}
