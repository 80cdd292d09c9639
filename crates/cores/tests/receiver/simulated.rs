// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A path of one queue, for tests that take it away, lengthen it or share it.

use std::collections::VecDeque;

use netnice_cores::receiver::{Core, Segment};

const BUFFER: u64 = 86;
/// What the kernel would advertise, bytes.
const KERNEL: u32 = 60 * MSS;

/// A sender that always fills the window, a queue of 86 packets, a receiver that acknowledges every second segment.
pub struct Path {
    pub core: Core,
    /// Of the ACKs, us.
    pub rtt: u64,
    /// What the data needs longer than in the beginning, us.
    pub longer: u64,
    /// Segments come up to so many microseconds later than they should.
    pub jitter: u64,
    /// So many microseconds a segment waits for one to join it with, in a network card.
    pub kept: u64,
    /// The peer's clock ticks in so many microseconds, and runs this much fast, in millionths.
    pub tick: u64,
    pub drift: i64,
    pub timestamps: bool,
    /// Microseconds that a segment takes at the bottleneck; 1211 are 10 Mbit/s.
    pub service: u64,
    /// What its timestamps show when its clock shows so many ticks.
    pub shows: fn(u64) -> u32,
    /// The kernel rounds windows up to multiples of two to the power of this, and never takes back what it granted.
    pub scale: u32,
    granted: u32,
    pub now: u64,
    /// When the queue will be empty.
    busy: u64,
    pub next: u32,
    pub acked: u32,
    pub edge: u32,
    /// When the next packets of a stranger come whose window stands still: each one once, a round trip after it left.
    pub steady: VecDeque<u64>,
    /// So many of the next segments are lost, as at a policer.
    pub loses: u32,
    /// Segments are seen to wait for each other.
    pub queues: bool,
    delivered: u64,
    queue_sum: u64,
    /// Segments on their way: arrival, sequence, sent, the clock they echo.
    flight: VecDeque<(u64, u32, u64, u64)>,
    /// ACKs on their way: arrival, right edge, clock.
    pub acks: VecDeque<(u64, u32, u64)>,
}

impl Path {
    pub fn new(algorithm: &str) -> Self {
        let mut core = Core::new(algorithm);
        core.ack(0, 0, 0);
        let acks = VecDeque::from([(1_000_000, 10 * MSS, 900_000)]);
        Path {
            core,
            rtt: 100_000,
            longer: 0,
            jitter: 0,
            kept: 0,
            tick: 1000,
            drift: 0,
            timestamps: true,
            service: 1211,
            shows: |ticks| ticks as u32,
            scale: 0,
            granted: 10 * MSS,
            now: 1_000_000,
            busy: 0,
            next: 0,
            acked: 0,
            edge: 0,
            steady: VecDeque::new(),
            loses: 0,
            queues: true,
            delivered: 0,
            queue_sum: 0,
            flight: VecDeque::new(),
            acks,
        }
    }

    fn send(&mut self, echoed: u64) {
        while (self.edge.wrapping_sub(self.next) as i32) >= MSS as i32 {
            if self.loses > 0 {
                self.loses -= 1;
                self.next = self.next.wrapping_add(MSS);
                continue;
            }
            let begins = self.busy.max(self.now);
            if begins - self.now > BUFFER * self.service {
                self.next = self.next.wrapping_add(MSS); // lost: the receiver sees a hole
                return;
            }
            self.queue_sum += begins - self.now;
            self.busy = begins + if self.queues { self.service } else { 1 };
            let noise = self.now * 7919 % (self.jitter + 1);
            let arrives = self.busy + self.longer + noise;
            self.flight.push_back((arrives, self.next, self.now, echoed));
            self.next = self.next.wrapping_add(MSS);
        }
    }

    /// Runs for `us`; `stranger` packets a millisecond join the queue. Returns (part of the link used, mean queue in us).
    pub fn run(&mut self, us: u64, stranger: f64) -> (f64, u64) {
        let (end, mut joined) = (self.now + us, 0.0);
        (self.delivered, self.queue_sum) = (0, 0);
        while self.now < end {
            let before = self.now;
            let arrival = self.next_arrival();
            let ack = self.acks.front().map_or(u64::MAX, |a| a.0);
            self.now = arrival.min(ack).min(self.now + 1000).max(self.now);
            joined += (self.now - before) as f64 / 1000.0 * stranger;
            while joined >= 1.0 {
                joined -= 1.0;
                if self.busy.saturating_sub(self.now) < BUFFER * self.service {
                    self.busy = self.busy.max(self.now) + self.service;
                }
            }
            while self.steady.front().is_some_and(|&at| at <= self.now) {
                self.steady.pop_front();
                self.busy = self.busy.max(self.now) + self.service;
                self.steady.push_back(self.busy + self.rtt);
            }
            if self.now >= arrival {
                self.arrive();
            } else if self.now >= ack {
                let (_, edge, clock) = self.acks.pop_front().expect("it is there");
                if (edge.wrapping_sub(self.edge) as i32) > 0 {
                    self.edge = edge;
                }
                self.send(clock);
                self.time_out();
            }
        }
        let sent = self.delivered.max(1);
        (
            (self.delivered * self.service) as f64 / us as f64,
            self.queue_sum / sent,
        )
    }

    /// All that was sent is lost: it is sent again, and acknowledged, which tells the receiver nothing.
    fn time_out(&mut self) {
        if self.acks.is_empty() && self.flight.is_empty() {
            let edge = self.next.wrapping_add(MSS);
            self.acks.push_back((self.now + 200_000, edge, self.now));
        }
    }

    fn next_arrival(&self) -> u64 {
        let follower = self.flight.get(1).map_or(u64::MAX, |f| f.0);
        self.flight.front().map_or(u64::MAX, |f| follower.min(f.0 + self.kept))
    }

    fn arrive(&mut self) {
        let (_, seq, sent, echoed) = self.flight.pop_front().expect("it is there");
        let theirs = (sent as i64 + sent as i64 / 1000 * self.drift / 1000) as u64;
        let clock = self.now / 1000 * 1000;
        self.core.arrival(&Segment {
            stamped: self.timestamps.into(),
            ..full(self.now as u32, seq, (self.shows)(theirs / self.tick), echoed as u32)
        });
        self.delivered += 1;
        let end = seq.wrapping_add(MSS);
        if end.wrapping_sub(self.acked) >= 2 * MSS || self.flight.is_empty() {
            let window = match self.core.ack(end, clock as u32, self.now as u32) {
                0 => KERNEL,
                window => window,
            };
            self.acked = end;
            let left = self.granted.wrapping_sub(end) as i32;
            let window = window.max(left.max(0) as u32);
            self.granted = end.wrapping_add(window.next_multiple_of(1 << self.scale));
            self.acks.push_back((self.now + self.rtt, self.granted, self.now));
        }
    }
}

pub const SECOND: u64 = 1_000_000;

pub const MSS: u32 = 1448;

/// What a millisecond clock shows, us.
pub fn ticked(us: u32) -> u32 {
    us / 1000 * 1000
}

/// It arrives at `now`, us, and carries the sender's stamp, in its ticks; it echoes an ACK that left at `echoed`, us.
pub fn full(now: u32, seq: u32, tsval: u32, echoed: u32) -> Segment {
    Segment {
        now_us: now,
        seq,
        bytes: MSS,
        segments: 1,
        stamped: 1,
        tsval,
        tsecr: ticked(echoed),
        clock: ticked(now),
    }
}
