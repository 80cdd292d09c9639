// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a core should do and does not yet: each of these fails until it does, and the report counts it as a known miss.

use netnice_cores::decision::{limit, Report, Rules};
use netnice_cores::receiver::Core as Receiver;
use netnice_cores::{Algorithm, Recovery};

use crate::feed::{base_after, Feeder, BASE_US};
use crate::path::{Clock, Path, BUFFER, MS, SECOND};

const MINUTE_US: u32 = 60 * SECOND;

/// 166 Mbit/s, 100 ms, a buffer of one BDP: CUBIC's window moves by less than 1/64 for six seconds.
pub fn plateau() -> impl Iterator<Item = u32> {
    (0..16).map(|n| {
        let t = f64::from(n) * 0.4 - 3.0;
        (200e3 * (1.0 + 0.4 * t.powi(3) / 2766.0)) as u32
    })
}

/// A trial begins after five seconds, and what CUBIC's window grows by afterwards stays below the limit of the longer base.
#[test]
#[should_panic(expected = "the base")]
fn a_plateau_of_cubics_is_no_longer_way() {
    assert_eq!(base_after(Algorithm::Netnice, 400 * MS, plateau()), BASE_US, "the base");
}

/// Minutes until a flow below one segment that meets a queue of about 40 ms has eight segments. The base is forgotten within ten.
fn minutes_until_it_is_back(ppm: i32) -> u64 {
    let mut path = Path::new(Algorithm::Netnice, Clock::Ticks(1_000, 77, ppm)).experienced();
    let (began, mut round) = (path.now_us, 0);
    let minutes = |path: &Path| (path.now_us - began) / u64::from(MINUTE_US);
    while round < 12 || path.window() < 8.0 {
        path.forward = BUFFER / 5 + round % 3 * 5 * MS; // what stands still is a longer way
        path.round();
        round += 1;
    }
    minutes(&path)
}

/// The forward delay's base follows a clock that is faster, not one that is slower: a queue becomes the way back's.
#[test]
#[should_panic(expected = "yields")]
fn a_slow_clock_of_the_peers_hides_no_queue() {
    let (exact, slow) = (minutes_until_it_is_back(0), minutes_until_it_is_back(-100));
    assert!(slow >= exact, "yields: {slow} minutes, not {exact}");
}

/// `estimate` is 0 on a connection whose handshake granted 64 kB, for the kernel names no socket then.
#[test]
#[should_panic(expected = "granted")]
fn an_accepted_connection_has_been_granted_something() {
    let mut core = Receiver::new("tide");
    core.ack(0, 0, 0);
    assert!(core.look().estimate > 0, "granted");
}

/// After a loss the limit of level 0 is one packet, or 36 % of the buffer. That of level 1 is two packets, which is more in a
/// buffer of less than 5.5.
#[test]
#[should_panic(expected = "the lower level")]
fn after_a_loss_a_lower_level_has_no_longer_limit() {
    let of = |threshold, own, floor_us| {
        let rules = Rules {
            threshold,
            fraction: 50,
            alpha: 32,
            own,
            floor_us,
        };
        limit(
            &rules,
            &Report {
                base: 40_000,
                packet: 4_000,
                depth: 16_000,
                ..Report::default()
            },
        )
    };
    assert!(
        of(0, 48, 350) <= of(36, 160, 1_000),
        "the lower level: {} us",
        of(0, 48, 350)
    );
}

/// From the sixth clear round after a loss a flow probes. With a loss every sixteen rounds Reno has from 16 to 32 segments.
#[test]
#[should_panic(expected = "more than Reno")]
fn where_only_losses_tell_it_has_no_more_than_reno() {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 32.0);
    for _ in 0..20 {
        flow.core.recovery(Recovery::Reduced);
        flow.core.recovery(Recovery::Open);
        for _ in 0..16 {
            flow.round(BASE_US);
        }
    }
    assert!(flow.window() <= 33.0, "more than Reno: {}", flow.window());
}
