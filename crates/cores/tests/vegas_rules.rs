// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Vegas' rules as TCP Nice states them in section 2.1.

mod feed;

use feed::{Feeder, BASE_US};
use netnice_cores::{Algorithm, Param, ONE};

/// A round's RTT that says `queued` own segments wait, at a window of `window`.
fn rtt_for(queued: f64, window: f64) -> u32 {
    (BASE_US as f64 / (1.0 - queued / window)).round() as u32
}

fn vegas(alpha: u32, beta: u32) -> Feeder {
    Feeder::at(
        Algorithm::Vegas,
        &[(Param::Alpha, alpha), (Param::Beta, beta)],
        32.0,
    )
}

#[test]
fn fewer_than_alpha_queued_grows_by_one() {
    let mut flow = vegas(1, 3);
    flow.round(rtt_for(0.5, 32.0));
    assert_eq!(flow.window(), 33.0);
}

#[test]
fn between_alpha_and_beta_stays() {
    let mut flow = vegas(1, 3);
    flow.round(rtt_for(2.0, 32.0));
    assert_eq!(flow.window(), 32.0);
}

#[test]
fn more_than_beta_queued_shrinks_by_one() {
    let mut flow = vegas(1, 3);
    flow.round(rtt_for(4.0, 32.0));
    assert_eq!(flow.window(), 31.0);
}

#[test]
fn never_below_two_by_delay() {
    let mut flow = vegas(0, 0);
    for _ in 0..40 {
        flow.round(4 * BASE_US);
    }
    assert_eq!(flow.window(), 2.0);
}

#[test]
fn grows_no_more_than_was_delivered() {
    let mut flow = vegas(1, 3);
    flow.mixed_round(&[(8, BASE_US)]);
    assert_eq!(flow.core.window(), 32 * ONE + ONE / 4);
}

#[test]
fn slow_start_leaves_at_gamma() {
    let mut flow = vegas(1, 3);
    flow.core.flow.win.ssthresh = u32::MAX;
    flow.round(BASE_US);
    assert_eq!(flow.window(), 64.0);
    flow.round(rtt_for(3.0, 128.0));
    let grown = flow.core.flow.win;
    assert_eq!(grown.w, grown.ssthresh);
    assert!(flow.window() < 128.0 && flow.window() > 100.0);
}
