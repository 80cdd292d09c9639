// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Streams of samples for replay: the same from the same seed, wherever they are replayed.

use crate::{Ack, Algorithm, Event, Recovery, Replay, APP_LIMITED, LONE};

/// SplitMix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u32) -> u32 {
        (self.next() % bound as u64) as u32
    }
}

/// A flow of `steps` events for `algorithm`: ACKs over a path whose queue comes and goes, now and then a loss, a timeout, an
/// undo, silence, and one ACK in sixteen that no path would send.
pub fn recorded(algorithm: Algorithm, seed: u64, steps: usize) -> Vec<Replay> {
    let mut random = Random(seed);
    let (mut now_us, mut delivered, mut queue_us) = (random.next() as u32, 0u32, 0u32);
    let mut stream = Vec::with_capacity(steps);
    stream.push(Replay {
        algorithm: algorithm as u32,
        event: Event::Init as u32,
        ack: Ack {
            now_us,
            rtt_us: 20_000,
            mss: 1448,
            ..Ack::default()
        },
        ..Replay::default()
    });
    for _ in 1..steps {
        let mut step = Replay {
            algorithm: algorithm as u32,
            ..Replay::default()
        };
        step.event = match random.below(100) {
            0 => Event::Undo,
            1 => Event::Restart,
            2..=4 => Event::Recovery,
            _ => Event::Ack,
        } as u32;
        step.value = random.below(Recovery::Timeout as u32 + 1);
        now_us = now_us.wrapping_add(random.below(6_000));
        queue_us = match random.below(8) {
            0 => random.below(60_000),
            1..=3 => queue_us / 2,
            _ => queue_us,
        };
        let acked = random.below(4);
        delivered = delivered.wrapping_add(acked);
        step.ack = Ack {
            now_us,
            delivered,
            sent_delivered: delivered.wrapping_sub(random.below(24)),
            acked,
            rtt_us: 20_000 + queue_us,
            in_flight: random.below(40),
            mss: 1448,
            held_us: if random.below(4) == 0 {
                random.below(2_000_000)
            } else {
                0
            },
            starving: random.below(20),
            flags: [0, 0, 0, APP_LIMITED, LONE][random.below(5) as usize],
            kin: 1 + random.below(4),
            kin_window: random.below(64 << 12),
            kin_worst: [0, 20_000 + random.below(40_000)][random.below(2) as usize],
            peer_stamp: now_us / 1000,
        };
        if random.below(16) == 0 {
            step.ack.rtt_us = random.next() as u32;
            step.ack.acked = random.next() as u32;
            step.ack.sent_delivered = random.next() as u32;
            step.ack.peer_stamp = random.next() as u32;
        }
        stream.push(step);
    }
    stream
}
