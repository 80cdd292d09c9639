// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Streams of samples for replay: the same from the same seed, wherever they are replayed.

use crate::{
    Ack, Algorithm, Event, Recovery, Replay, APP_LIMITED, DELAYED, REPLAY_FLOWS, RETRANSMITTED,
};

/// What the word begins with that a flow leaves to the next algorithm.
const LEGACY: u32 = 0xa000_0000;

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

/// `steps` events of some flows of `algorithm`: ACKs over a path whose queue comes and goes, now and then a loss, a timeout, an
/// undo, silence, a flow that leaves and starts again, and one ACK in sixteen that no path would send.
pub fn recorded(algorithm: Algorithm, seed: u64, steps: usize) -> Vec<Replay> {
    let mut random = Random(seed);
    let (mut now_us, mut delivered, mut queue_us) = (random.next() as u32, 0u32, 0u32);
    let mut stream = Vec::with_capacity(steps);
    for number in 0..steps {
        let event = match random.below(100) {
            _ if number == 0 => Event::Start,
            0 => Event::Undo,
            1 => Event::Restart,
            2..=4 => Event::Recovery,
            5 => Event::Leave,
            6..=9 => Event::Start,
            _ => Event::Ack,
        };
        let mut step = Replay {
            algorithm: algorithm as u32,
            event: event as u32,
            value: match event {
                Event::Start => [0, LEGACY | 20_000][random.below(2) as usize],
                _ => random.below(Recovery::Timeout as u32 + 1),
            },
            flow: random.below(REPLAY_FLOWS as u32),
            ..Replay::default()
        };
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
            flags: [0, 0, 0, APP_LIMITED, DELAYED, RETRANSMITTED][random.below(6) as usize],
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
