// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The decision of netnice, `algorithms/netnice/decide.h`: a round's report in, a window out.

pub use crate::c::{
    nn_report as Report, nn_rules as Rules, nn_state as State, NN_RISING as RISING, NN_STEADY as STEADY,
    NN_WAITING as WAITING,
};
use crate::{c, Window};

/// A round is over: what is remembered and the window become those for the next.
pub fn decide(state: &mut State, report: &Report, window: &mut Window, rules: &Rules) {
    // SAFETY: all pointers are to live data of the layouts that the C side expects.
    unsafe { c::nn_core_decide(state, report, window, rules) }
}

/// The queueing delay that is congestion, microseconds.
pub fn limit(rules: &Rules, report: &Report) -> u32 {
    // SAFETY: as in `decide`.
    unsafe { c::nn_core_limit(rules, report) }
}
