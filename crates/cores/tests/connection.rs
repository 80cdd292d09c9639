// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a connection makes of the kernel's facts, and what a host's flows know of each other.

mod feed;

use feed::{Feeder, BASE_US};
use netnice_cores::{
    recorded, Ack, Algorithm, Core, Flow, Replayed, Send, DELAYED, REPLAY_FLOWS, RETRANSMITTED,
};

/// Has it started?
fn runs(flow: &Flow) -> bool {
    flow.ready() == 1
}

#[test]
fn the_rtt_of_a_retransmission_is_not_believed() {
    let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
    let usual = flow.ack(2, flow.delivered.wrapping_sub(1), BASE_US / 10);
    flow.core.on_ack(&Ack {
        flags: RETRANSMITTED,
        ..usual
    });
    assert_eq!(flow.core.flow.rtt.min, BASE_US);
    flow.core.on_ack(&usual);
    assert_eq!(flow.core.flow.rtt.min, BASE_US / 10);
}

#[test]
fn an_ack_that_was_delayed_or_is_of_all_that_flew_tells_nothing_of_the_worst() {
    let late = |acked, in_flight, flags| {
        let mut flow = Feeder::at(Algorithm::Netnice, &[], 16.0);
        let ack = Ack {
            in_flight,
            flags,
            ..flow.ack(acked, flow.delivered.wrapping_sub(1), 10 * BASE_US)
        };
        flow.core.on_ack(&ack);
        flow.core.flow.rtt.max > 2 * BASE_US
    };
    assert!(late(2, 16, 0));
    assert!(late(1, 16, 0));
    assert!(!late(2, 16, DELAYED));
    assert!(!late(1, 0, 0));
}

#[test]
fn an_ack_before_the_connection_has_started_changes_nothing() {
    let mut core = Core::new(Algorithm::Netnice, 1_000_000, BASE_US);
    core.flow = Flow::default();
    let ack = Ack {
        acked: 2,
        rtt_us: BASE_US,
        ..Ack::default()
    };
    assert_eq!(core.on_ack(&ack), Send::default());
    assert_eq!(core.window(), 0);
}

#[test]
fn the_host_knows_its_flows_whatever_happens_to_them() {
    for algorithm in Algorithm::ALL {
        let (mut host, mut most) = (Replayed::new(algorithm), 0);
        for mut step in recorded(algorithm, 3, 4_000) {
            host.replay(&mut step);
            for first in (0..REPLAY_FLOWS).step_by(2) {
                let running: Vec<u64> = (first..first + 2)
                    .map(|number| host.flow(number))
                    .filter(|flow| runs(flow))
                    .map(|flow| u64::from(flow.win.w))
                    .collect();
                let told = host.look(first, step.ack.now_us);
                assert_eq!(told.flows as usize, running.len(), "{algorithm:?}");
                let mean = running.iter().sum::<u64>() / running.len().max(1) as u64;
                assert_eq!(u64::from(told.window), mean, "{algorithm:?}: {step:?}");
                most = most.max(told.flows);
            }
        }
        assert_eq!(most, 2, "the stream lets siblings meet");
    }
}

#[test]
fn who_is_below_one_segment_is_counted_and_tells_the_worst_rtt() {
    let (mut host, mut counted, mut told) = (Replayed::new(Algorithm::Netnice), 0, false);
    for mut step in recorded(Algorithm::Netnice, 3, 20_000) {
        host.replay(&mut step);
        let siblings = host.look(step.flow as usize, step.ack.now_us);
        let below = (0..REPLAY_FLOWS)
            .filter(|&number| runs(host.flow(number)) && host.flow(number).sub_packet() != 0)
            .count();
        assert_eq!(siblings.sub_packet as usize, below);
        counted = counted.max(below);
        told |= siblings.worst_rtt != 0;
    }
    assert!(counted > 1 && told);
}
