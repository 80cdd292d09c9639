// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A path with a delay each way and a peer that stamps its ACKs by a clock of its own.

use netnice_cores::{Ack, Algorithm, Core, Param, LONE, ONE};

pub const MS: u32 = 1_000;
pub const SECOND: u32 = 1_000_000;
/// Microseconds each way while no queue waits.
pub const EMPTY: u32 = 20 * MS;
/// What a full queue towards the peer waits.
pub const BUFFER: u32 = 200 * MS;

/// How the peer counts time.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// No timestamps.
    None,
    /// A tick of so many microseconds, with this TSval at time 0, so many millionths fast.
    Ticks(u32, u32, i32),
    /// Any number.
    Random,
}

/// A clock of 1 ms that stands at 12345.
pub const USUAL: Clock = Clock::Ticks(1_000, 12_345, 0);

pub struct Path {
    pub core: Core,
    pub clock: Clock,
    /// Microseconds since the flow began; the core sees it wrapped, from `epoch` on.
    pub now_us: u64,
    pub epoch: u32,
    /// Empty-queue delay towards the peer, and queues each way, microseconds.
    pub base: u32,
    pub forward: u32,
    pub back: u32,
    /// Do segments fly alone?
    pub lone: bool,
    delivered: u32,
    random: u64,
}

impl Path {
    pub fn new(algorithm: Algorithm, clock: Clock) -> Self {
        Self::with(algorithm, clock, &[])
    }

    pub fn with(algorithm: Algorithm, clock: Clock, params: &[(Param, u32)]) -> Self {
        let mut core = Core::new(algorithm, 0, 2 * EMPTY);
        for &(param, value) in params {
            core = core.with(param, value);
        }
        Path {
            core,
            clock,
            now_us: 0,
            epoch: 0,
            base: EMPTY,
            forward: 0,
            back: 0,
            lone: false,
            delivered: 0,
            random: 1,
        }
    }

    /// A flow past slow start that has seen the empty path for three seconds, at `window` segments.
    pub fn steady(algorithm: Algorithm, clock: Clock, window: f64) -> Self {
        let mut path = Path::new(algorithm, clock);
        path.settle(window);
        path
    }

    /// Past slow start at 40 segments, having seen the buffer empty and full.
    pub fn experienced(mut self) -> Self {
        self.settle(40.0);
        self.forward = BUFFER;
        self.hold(2 * SECOND, 40.0);
        self.forward = 0;
        self.hold(2 * SECOND, 40.0);
        self
    }

    /// Three seconds of empty path, then `window` segments and no slow start.
    pub fn settle(&mut self, window: f64) {
        self.hold(3 * SECOND, window);
    }

    /// Time passes with the window held at `window`: what a path does that takes no more.
    pub fn hold(&mut self, us: u32, window: f64) {
        let until = self.now_us + us as u64;
        while self.now_us < until {
            self.set_window(window);
            self.round();
        }
        self.set_window(window);
    }

    pub fn set_window(&mut self, window: f64) {
        self.core.flow.win.w = (window * ONE as f64) as u32;
        self.core.flow.win.ssthresh = self.core.flow.win.w;
    }

    pub fn window(&self) -> f64 {
        self.core.window() as f64 / ONE as f64
    }

    fn stamp(&mut self) -> u32 {
        match self.clock {
            Clock::None => 0,
            Clock::Ticks(tick_us, start, ppm) => {
                let left = self.now_us + 1_000_000 - (self.base + self.back) as u64;
                let theirs = left as i64 + left as i64 * ppm as i64 / 1_000_000;
                start.wrapping_add((theirs as u64 / tick_us as u64) as u32)
            }
            Clock::Random => {
                self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (self.random >> 32) as u32 | 1
            }
        }
    }

    pub fn rtt(&self) -> u32 {
        2 * self.base + self.forward + self.back
    }

    /// One ACK of `acked` segments, `after_us` after the last.
    pub fn ack(&mut self, acked: u32, after_us: u32, in_flight: u32, starts_round: bool) {
        self.now_us += after_us as u64;
        self.delivered = self.delivered.wrapping_add(acked);
        let sent = if starts_round {
            self.delivered
        } else {
            self.delivered.wrapping_sub(1 << 20)
        };
        let ack = Ack {
            now_us: (self.now_us as u32).wrapping_add(self.epoch),
            delivered: self.delivered,
            sent_delivered: sent,
            acked,
            rtt_us: self.rtt(),
            in_flight,
            mss: 1448,
            peer_stamp: self.stamp(),
            flags: if self.lone { LONE } else { 0 },
            ..Ack::default()
        };
        self.core.on_ack(&ack);
    }

    /// A round trip of full window, two segments to an ACK.
    pub fn round(&mut self) {
        let segments = (self.core.window() / ONE).max(2);
        let acks = segments / 2;
        for i in 0..acks {
            let flight = (self.core.window() / ONE).max(2);
            self.ack(2, self.rtt() / acks, flight, i + 1 == acks);
        }
    }

    /// So many rounds.
    pub fn rounds(&mut self, count: u32) {
        for _ in 0..count {
            self.round();
        }
    }

    /// Rounds until so much time has passed.
    pub fn run(&mut self, us: u32) {
        let until = self.now_us + us as u64;
        while self.now_us < until {
            self.round();
        }
    }
}

/// Is `value` within 3 % of `wanted`?
pub fn near(value: f64, wanted: f64) -> bool {
    (value - wanted).abs() <= 0.03 * wanted.abs()
}
