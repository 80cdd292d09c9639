// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The decision of netnice, `algorithms/netnice/decide.h`: a round's report in, a window out.

pub use crate::c::{
    nn_report as Report, nn_state as State, NN_RISING as RISING, NN_STEADY as STEADY, NN_WAITING as WAITING,
};
use crate::{c, Core, Param, Window, PARAMS};

/// The parameters of a decision; units as in `decide.h`.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub threshold: u32,
    pub fraction: u32,
    pub alpha: u32,
    pub own: u32,
    pub floor_us: u32,
}

impl Rules {
    fn row(&self) -> [u32; PARAMS] {
        let mut row = [0; PARAMS];
        row[Param::Threshold as usize] = self.threshold;
        row[Param::Fraction as usize] = self.fraction;
        row[Param::Alpha as usize] = self.alpha;
        row[Param::BandPackets as usize] = self.own;
        row[Param::QueueFloor as usize] = self.floor_us;
        row
    }
}

/// A round is over: what is remembered and the window become those for the next.
pub fn decide(state: &mut State, report: &Report, window: &mut Window, rules: &Rules) {
    // SAFETY: all pointers are to live data of the layouts that the C side expects.
    unsafe { c::nn_core_decide(state, report, window, rules.row().as_ptr()) }
}

/// What a flow of `netnice`, `netnice1` or `netnice2` remembers.
pub fn state(core: &Core) -> State {
    let mut state = State::default();
    // SAFETY: as in `decide`; C reads the flow, of which it gets a copy.
    unsafe { c::nn_core_state(&mut core.flow.clone(), &mut state) }
    state
}

/// The queueing delay that is congestion, microseconds.
pub fn limit(rules: &Rules, report: &Report) -> u32 {
    // SAFETY: as in `decide`.
    unsafe { c::nn_core_limit(rules.row().as_ptr(), report) }
}

/// The part of a report's queue that the window `w` explains, with its siblings, microseconds.
pub fn explained(report: &Report, w: u32) -> u32 {
    // SAFETY: as in `decide`.
    unsafe { c::nn_core_explained(report, w) }
}

/// A packet's time at the bottleneck after a sample, in the unit of `spacing`; 0: unknown.
pub fn packet_after(packet: u32, spacing: u32, apart_us: u32, gap_us: u32, segments: u32) -> u32 {
    // SAFETY: no memory is touched.
    unsafe { c::nn_core_packet_after(packet, spacing, apart_us, gap_us, segments) }
}
