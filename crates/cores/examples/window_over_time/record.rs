// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a run leaves behind for its picture. Names are those of `frame.svg`.

use netnice_cores::decision::{State, RISING, STEADY, WAITING};

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
