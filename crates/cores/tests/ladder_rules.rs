// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The levels below Nice: what each keeps, when it leaves, and that siblings share.

mod feed;

use approx::assert_abs_diff_eq;
use feed::{Feeder, BASE_US};
use netnice_cores::{Algorithm, Core, Param, Siblings, ONE};

/// The feeder spreads 16 segments over a base RTT: the packet time that a full window shows.
const PACKET_US: u32 = BASE_US / 16;
/// Above every band: 1/4 and 5/8 packet, 0.5 and 0.6 ms.
const LONG_US: u32 = BASE_US + PACKET_US + 4_000;

fn flow(level: Algorithm) -> Feeder {
    let mut flow = Feeder::at(level, &[], 16.0);
    flow.round(BASE_US);
    flow.set_window(16.0);
    flow
}

#[test]
fn an_empty_queue_lets_it_grow_by_add() {
    for (level, add) in [(Algorithm::Netnice1, 0.25), (Algorithm::Netnice2, 0.03125)] {
        let mut flow = flow(level);
        flow.round(BASE_US);
        assert_eq!(flow.window(), 16.0 + add, "{level:?}");
    }
}

#[test]
fn growth_doubles_when_the_queue_stays_empty() {
    let mut flow = flow(Algorithm::Netnice1);
    let mut growth = 0.0;
    for _ in 0..12 {
        let before = flow.window();
        flow.round(BASE_US);
        growth = flow.window() - before;
    }
    assert!(growth >= 0.99, "{growth}");
}

#[test]
fn the_lower_level_leaves_a_queue_that_the_upper_keeps() {
    let rtt = BASE_US + PACKET_US + 650;
    let (mut one, mut two) = (flow(Algorithm::Netnice1), flow(Algorithm::Netnice2));
    one.round(rtt);
    two.round(rtt);
    assert!(one.window() > 16.0, "{}", one.window());
    assert!(two.window() < 16.0, "{}", two.window());
}

#[test]
fn the_first_cut_takes_ones_own_share_and_waits() {
    let mut flow = flow(Algorithm::Netnice1);
    flow.round(LONG_US);
    let share = 16.0 * 20.0 / 24.0;
    let expected = share * (1.0 - 1.0 / 32.0);
    assert_abs_diff_eq!(flow.window(), expected, epsilon = 0.01);
    let cut = flow.window();
    flow.round(LONG_US);
    assert_eq!(flow.window(), cut, "it did not wait for the cut to show");
}

#[test]
fn a_queue_that_survives_the_soft_cuts_is_a_higher_levels() {
    for (level, soft) in [(Algorithm::Netnice1, 4), (Algorithm::Netnice2, 2)] {
        let mut flow = flow(level);
        flow.core.flow.win.w = 400 * ONE;
        flow.core.flow.win.ssthresh = 400 * ONE;
        for cut in 0..soft + 1 {
            let before = flow.window();
            flow.round(LONG_US);
            let kept = flow.window() / before;
            assert_eq!(kept < 0.2, cut == soft, "{level:?}, cut {cut} kept {kept}");
            flow.round(LONG_US);
        }
    }
}

#[test]
fn below_one_segment_a_pair_decides() {
    let mut one = flow(Algorithm::Netnice1);
    one.set_window(0.125);
    one.round(LONG_US);
    assert!(one.window() <= 1.0 / 64.0, "{}", one.window());
    one.round(LONG_US);
    assert_eq!(one.window(), 1.0 / 128.0, "the floor");
    for expected in [128.0, 128.0, 32.0, 8.0] {
        one.round(BASE_US);
        assert_eq!(one.window(), 1.0 / expected);
    }
    let mut two = flow(Algorithm::Netnice2);
    two.set_window(0.125);
    two.round(LONG_US);
    let low = two.window();
    for growth in [1.0, 1.0, 2.0, 2.0] {
        let before = two.window();
        two.round(BASE_US);
        assert_eq!(two.window(), before * growth, "from {low}");
    }
}

fn siblings(flows: u32, window: u32) -> Option<Siblings> {
    Some(Siblings {
        flows,
        window,
        ..Siblings::default()
    })
}

#[test]
fn siblings_move_to_their_mean_and_keep_their_sum() {
    let mut windows = [30.0, 4.0, 2.0];
    for _ in 0..12 {
        let mean = windows.iter().sum::<f64>() / 3.0;
        for w in &mut windows {
            let mut flow = flow(Algorithm::Netnice1);
            flow.core = flow.core.clone().with(Param::Add, 0);
            flow.set_window(*w);
            flow.now_us += 10;
            let ack = flow.ack(2, flow.delivered, 0);
            flow.core.siblings = siblings(3, (mean * f64::from(ONE)) as u32);
            flow.core.on_ack(&ack);
            *w = flow.window();
        }
        let sum: f64 = windows.iter().sum();
        assert_abs_diff_eq!(sum, 36.0, epsilon = 0.01);
    }
    let squares: f64 = windows.iter().map(|w| w * w).sum();
    assert!(36.0 * 36.0 / (3.0 * squares) > 0.99, "{windows:?}");
}

#[test]
fn a_change_of_level_keeps_base_and_window() {
    let mut core = Core::new(Algorithm::Netnice2, 1_000_000, 90_000);
    core.resume(20_000, 40);
    assert_eq!(core.flow.rtt.min, 20_000);
    assert_eq!(core.window(), 40 * ONE);
    assert_eq!(core.flow.win.ssthresh, 40 * ONE, "no slow start from there");
    let mut fresh = Core::new(Algorithm::Netnice2, 1_000_000, 90_000);
    let first = fresh.window();
    fresh.resume(20_000, 10);
    assert_eq!(
        fresh.window(),
        first,
        "a hand-over's least window is not the flow's"
    );
}

/// The window after forty pairs of one of sixteen flows with half a segment each, of which every `nth` meets a queue.
fn in_a_crowd(nth: u32, flows: u32) -> f64 {
    let mut flow = Feeder::at(Algorithm::Netnice1, &[], 64.0);
    flow.round(BASE_US);
    flow.set_window(0.5);
    let packet = BASE_US / 64;
    for pair in 0..40 {
        flow.core.siblings = siblings(flows, flow.core.window());
        let met = pair % nth == 0;
        flow.round(BASE_US + packet + if met { 2 * packet + 600 } else { 0 });
    }
    flow.window()
}

#[test]
fn pairs_of_siblings_meet_by_chance_and_a_level_above_is_met_always() {
    assert!(
        in_a_crowd(3, 16) > 1.0,
        "every third: siblings {}",
        in_a_crowd(3, 16)
    );
    assert!(
        in_a_crowd(2, 1) < 0.1,
        "alone, half of the pairs are too many {}",
        in_a_crowd(2, 1)
    );
    assert!(
        in_a_crowd(1, 16) < 0.1,
        "always: somebody above {}",
        in_a_crowd(1, 16)
    );
}
