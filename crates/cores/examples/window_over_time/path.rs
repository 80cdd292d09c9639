// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A bottleneck of 20 Mbit/s and 40 ms with a drop-tail buffer of one bandwidth-delay product. netnice's segments pass
//! in pairs; the other flow is a fluid that grows and halves as Reno. Times are in microseconds.
//!
//! What a run leaves behind for its picture has the names of `frame.svg`.

use std::collections::VecDeque;

use netnice_cores::decision::{self, State, RISING, STEADY, WAITING};
use netnice_cores::{Ack, Core, Recovery, Send};

const TICK: u32 = 10;
const BASE: u32 = 40_000;
const BUFFER: f64 = 40_000.0;
/// Service time of a segment of 1500 bytes.
const PACKET: u32 = 600;
const MSS: u32 = 1448;
/// What Linux adds to an RTT for a timeout.
const TIMEOUT: u32 = 200_000;

/// Two segments of netnice, which are acknowledged together: when they left, what had been delivered then, and when
/// their ACK is back.
struct Pair {
    sent: u32,
    delivered: u32,
    back: u32,
    lost: bool,
}

pub struct Path {
    pub core: Core,
    pub now: u32,
    /// What arrives now waits so long.
    pub queue: f64,
    pub record: Record,
    /// Segments in flight of the other flow, which is in slow start without `avoids`; when it learns of a loss.
    other: f64,
    avoids: bool,
    halves: Option<u32>,
    send: Send,
    flying: VecDeque<Pair>,
    delivered: u32,
    /// Since when something is missing.
    repairs: Option<u32>,
    /// When pacing lets the next pair leave.
    deadline: u32,
}

impl Path {
    pub fn new(core: Core) -> Self {
        Path {
            core,
            now: 0,
            queue: 0.0,
            record: Record::default(),
            other: 0.0,
            avoids: false,
            halves: None,
            send: Send {
                cwnd: 2,
                rate: 1 << 40,
                now: false,
            },
            flying: VecDeque::new(),
            delivered: 0,
            repairs: None,
            deadline: 0,
        }
    }

    /// A step of time, in which the other flow sends or not.
    pub fn tick(&mut self, other: bool) {
        self.now += TICK;
        let arrived = if other { self.fluid() } else { 0.0 };
        self.queue = (self.queue + arrived - f64::from(TICK)).max(0.0);
        if self.queue > BUFFER {
            self.queue = BUFFER;
            self.halves.get_or_insert(self.now + 2 * BASE);
        }
        while self.flying.front().is_some_and(|pair| pair.back <= self.now) {
            match self.flying.pop_front() {
                Some(pair) if !pair.lost => self.ack(&pair),
                _ => self.lost(),
            }
        }
        self.transmit();
    }

    /// The work that the other flow sends in a tick.
    fn fluid(&mut self) -> f64 {
        let rounds = f64::from(TICK) / (f64::from(BASE) + self.queue);
        if self.halves.take_if(|at| self.now >= *at).is_some() {
            self.other /= 2.0;
            self.avoids = true;
        }
        self.other = self.other.max(10.0);
        let doubled = self.other * rounds * std::f64::consts::LN_2;
        self.other += if self.avoids { rounds } else { doubled };
        self.other * rounds * f64::from(PACKET)
    }

    /// The sender learns of a loss from ACKs of later segments, or from a timeout if there are none.
    fn lost(&mut self) {
        if self.flying.is_empty() {
            self.deadline = self.now + TIMEOUT;
            self.core.recovery(Recovery::Timeout);
        } else if self.repairs.is_none() && self.flying.iter().any(|later| !later.lost) {
            self.core.recovery(Recovery::Reduced);
        } else {
            return;
        }
        self.repairs = Some(self.now);
        let state = decision::state(&self.core);
        self.record.took(self.now, self.core.window(), &state, true);
    }

    /// The peer acknowledges a pair, by a clock of milliseconds.
    fn ack(&mut self, pair: &Pair) {
        self.delivered += 2;
        if self.repairs.take_if(|since| pair.sent >= *since).is_some() {
            self.core.recovery(Recovery::Open);
        }
        self.send = self.core.on_ack(&Ack {
            now_us: self.now,
            delivered: self.delivered,
            sent_delivered: pair.delivered,
            acked: 2,
            rtt_us: self.now.saturating_sub(pair.sent),
            in_flight: 2 * self.flying.len() as u32,
            mss: MSS,
            held_us: self.deadline.saturating_sub(self.now),
            peer_stamp: 12_345 + (self.now - BASE / 2) / 1_000,
            ..Ack::default()
        });
        let state = decision::state(&self.core);
        self.record.took(self.now, self.core.window(), &state, false);
    }

    /// A pair leaves, if window and pacing allow it. Linux stamps what leaves early with the deadline.
    fn transmit(&mut self) {
        let in_flight = 2 * self.flying.len() as u32;
        if in_flight + 2 > self.send.cwnd || (self.now < self.deadline && !self.send.now) {
            return;
        }
        let longer = self.queue + f64::from(2 * PACKET);
        let lost = longer > BUFFER;
        self.queue = if lost { self.queue } else { longer };
        self.flying.push_back(Pair {
            sent: self.now.max(self.deadline),
            delivered: self.delivered,
            back: self.now + BASE - 2 * PACKET + self.queue as u32,
            lost,
        });
        if self.now >= self.deadline {
            self.deadline = self.now + (u64::from(2 * MSS) * 1_000_000 / self.send.rate) as u32;
        }
    }
}

/// The phases of `algorithms/netnice/decide.h`; a probe is apart from the rest of STEADY.
pub const PHASES: [&str; 4] = ["rising", "steady", "probing", "waiting"];

/// W from a time on, until the next step: microseconds, 1/4096 segment.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub us: u32,
    pub w: u32,
    pub phase: &'static str,
}

#[derive(Debug, Default)]
pub struct Record {
    pub steps: Vec<Step>,
    /// What made W smaller: a drain, a cut or a loss. Vegas' small steps down are none.
    pub turns: Vec<(&'static str, Step)>,
    /// Time, longest queue since the row before, and limit; microseconds.
    pub queue: Vec<(u32, u32, u32)>,
}

impl Record {
    /// The core has taken an ACK in, or a loss.
    pub fn took(&mut self, us: u32, w: u32, state: &State, loss: bool) {
        let phase = match u32::from(state.phase()) {
            RISING => "rising",
            STEADY if state.probing() > 0 => "probing",
            STEADY => "steady",
            _ => "waiting",
        };
        let step = Step { us, w, phase };
        let before = self.steps.last().copied().unwrap_or(step);
        if self.steps.is_empty() || (before.w, before.phase) != (w, phase) {
            self.steps.push(step);
        }
        let turn = match u32::from(state.phase()) {
            _ if loss => "loss",
            WAITING if state.full == w => "drain",
            _ => "cut",
        };
        if w < before.w && (turn != "cut" || state.drained() == 1) {
            self.turns.push((turn, step));
        }
    }
}
