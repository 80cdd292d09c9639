// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Feeds a core the ACKs of whole rounds, as a sender with a full window would meet them.

use netnice_cores::{Ack, Algorithm, Core, Param, Recovery, Send, ONE};

pub const BASE_US: u32 = 20_000;
pub const MSS: u32 = 1448;
pub const LEVELS: [Algorithm; 3] = [Algorithm::Netnice, Algorithm::Netnice1, Algorithm::Netnice2];

pub struct Feeder {
    pub core: Core,
    pub now_us: u32,
    pub delivered: u32,
    pub last: Send,
}

impl Feeder {
    /// A flow that knows nothing yet.
    pub fn fresh(algorithm: Algorithm, params: &[(Param, u32)]) -> Self {
        let mut core = Core::new(algorithm, 1_000_000, BASE_US);
        for &(param, value) in params {
            core = core.with(param, value);
        }
        Feeder {
            core,
            now_us: 1_000_000,
            delivered: 0,
            last: Send::default(),
        }
    }

    /// A flow that has seen its base RTT once and is past slow start at `window` segments.
    pub fn at(algorithm: Algorithm, params: &[(Param, u32)], window: f64) -> Self {
        let mut feeder = Feeder::fresh(algorithm, params);
        feeder.round(BASE_US);
        feeder.set_window(window);
        if LEVELS.contains(&algorithm) {
            feeder.leave_slow_start();
        }
        feeder
    }

    /// netnice leaves its first slow start with a loss, which was none: the window has filled the path.
    fn leave_slow_start(&mut self) {
        self.core.recovery(Recovery::Reduced);
        self.core.recovery(Recovery::Open);
        self.core.undo();
    }

    pub fn set_window(&mut self, window: f64) {
        self.core.flow.win.w = (window * ONE as f64) as u32;
        self.core.flow.win.ssthresh = self.core.flow.win.w;
    }

    pub fn window(&self) -> f64 {
        self.core.window() as f64 / ONE as f64
    }

    /// Segments that a full window sends in a round; a pair where it is below two, and a receiver's limit above.
    pub fn segments(&self) -> u32 {
        (self.core.window() / ONE).clamp(2, 2000)
    }

    /// One ACK of `acked` segments.
    pub fn ack(&mut self, acked: u32, sent_delivered: u32, rtt_us: u32) -> Ack {
        self.delivered = self.delivered.wrapping_add(acked);
        Ack {
            now_us: self.now_us,
            delivered: self.delivered,
            sent_delivered,
            acked,
            rtt_us,
            in_flight: self.segments(),
            mss: MSS,
            ..Ack::default()
        }
    }

    /// A round of ACKs for two segments each, all with this RTT.
    pub fn round(&mut self, rtt_us: u32) {
        let segments = self.segments();
        self.mixed_round(&[(segments, rtt_us)]);
    }

    /// A round in which `n` segments met each RTT, two to an ACK. Ends when the next round's first segment would.
    pub fn mixed_round(&mut self, parts: &[(u32, u32)]) {
        let total: u32 = parts.iter().map(|part| part.0).sum();
        let mut left = total;
        let start = self.delivered;
        for &(segments, rtt_us) in parts {
            let mut todo = segments;
            while todo > 0 {
                let acked = todo.min(2);
                todo -= acked;
                left -= acked;
                self.now_us = self.now_us.wrapping_add(rtt_us * acked / total.max(1));
                // The round's last ACK is of a segment sent after the round began.
                let sent = if left == 0 { start } else { start.wrapping_sub(1) };
                let ack = self.ack(acked, sent, rtt_us);
                self.last = self.core.on_ack(&ack);
            }
        }
    }
}

/// A flow below one segment, and its base after pairs with these RTTs, `gap_us` apart.
pub fn base_after(algorithm: Algorithm, gap_us: u32, rtts: impl Iterator<Item = u32>) -> u32 {
    let mut flow = Feeder::at(algorithm, &[], 16.0);
    flow.core.flow.rtt.max = 4_000_000;
    for rtt_us in rtts {
        flow.set_window(0.1);
        flow.now_us += gap_us;
        flow.round(rtt_us);
    }
    flow.core.flow.rtt.min
}
