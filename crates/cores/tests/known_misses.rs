// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a core should do and does not yet: each of these fails until it does, and the report counts it as a known miss.
//! All stand in files that "One small core" (docs/frontier.md) replaces.

use netnice_cores::receiver::Core as Receiver;
use netnice_cores::{Algorithm, Recovery, Siblings};

use crate::feed::{base_after, Feeder, BASE_US};
use crate::path::{Clock, Path, BUFFER, MS, SECOND};

const MINUTE_US: u32 = 60 * SECOND;

/// `knows` and `nn_worst_hear` take the base's window, which begins anew every five minutes, for the flow's start.
#[test]
#[should_panic(expected = "shares")]
fn a_flow_of_five_minutes_is_not_taken_for_a_new_one() {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
    flow.now_us += 5 * MINUTE_US + SECOND;
    flow.core.restart(flow.now_us, flow.delivered);
    flow.round(BASE_US);
    flow.set_window(16.0);
    flow.core.siblings = Some(Siblings {
        flows: 4,
        window: 8 * netnice_cores::ONE,
        ..Siblings::default()
    });
    flow.round(BASE_US);
    assert!(flow.window() < 16.0, "shares");
}

/// `nn_still` counts in 12 bits of 512 us.
#[test]
#[should_panic(expected = "the base")]
fn round_trips_of_two_seconds_and_more_do_not_stand_still() {
    let moving = (0..20).map(|n| 2_200 * MS + n % 4 * 300 * MS);
    assert_eq!(base_after(Algorithm::Netnice, 0, moving), BASE_US, "the base");
}

/// 166 Mbit/s, 100 ms, a buffer of one BDP: CUBIC's window moves by less than 1/64 for six seconds.
fn plateau() -> impl Iterator<Item = u32> {
    (0..16).map(|n| {
        let t = f64::from(n) * 0.4 - 3.0;
        (200e3 * (1.0 + 0.4 * t.powi(3) / 2766.0)) as u32
    })
}

#[test]
#[should_panic(expected = "the base")]
fn a_plateau_of_cubics_is_no_longer_way() {
    assert_eq!(base_after(Algorithm::Netnice, 0, plateau()), BASE_US, "the base");
}

/// A trial begins after five seconds, and what CUBIC's window grows by afterwards stays below the limit of the longer base.
#[test]
#[should_panic(expected = "the base")]
fn a_plateau_of_cubics_is_no_longer_way_to_the_next_core() {
    assert_eq!(base_after(Algorithm::Small, 400 * MS, plateau()), BASE_US, "the base");
}

/// `lossy` is never cleared.
#[test]
#[should_panic(expected = "the buffer")]
fn a_loss_that_was_none_tells_nothing_of_the_buffer() {
    let limit = |lost: bool| {
        let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
        for behind in 0..8 {
            let sent = flow.delivered.wrapping_sub(1);
            flow.now_us += 12 * MS;
            let ack = flow.ack(1, sent, BASE_US + behind * 12 * MS);
            flow.core.on_ack(&ack);
        }
        if lost {
            flow.core.recovery(Recovery::Reduced);
            flow.core.recovery(Recovery::Open);
            flow.core.undo();
        }
        flow.core.rtt_limit()
    };
    assert_eq!(limit(true), limit(false), "the buffer");
}

/// The forward delay's base follows a clock that is faster, not one that is slower: a queue becomes the way back's.
#[test]
#[should_panic(expected = "yields")]
fn a_slow_clock_of_the_peers_hides_no_queue() {
    let mut path = Path::new(Algorithm::Netnice, Clock::Ticks(1_000, 77, -100)).experienced();
    path.forward = BUFFER / 2;
    let end = path.now_us + 20 * u64::from(MINUTE_US);
    while path.now_us < end && path.window() < 8.0 {
        path.round();
    }
    assert!(path.now_us >= end, "yields: {} us", path.now_us);
}

/// `estimate` is 0 on a connection whose handshake granted 64 kB, for the kernel names no socket then.
#[test]
#[should_panic(expected = "granted")]
fn an_accepted_connection_has_been_granted_something() {
    let mut core = Receiver::new("tide");
    core.ack(0, 0, 0);
    assert!(core.look().estimate > 0, "granted");
}
