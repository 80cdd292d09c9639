// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The structures of `algorithms/` that tests see, and the functions of `cores.c`, as bindgen reads them there.

#[allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    clippy::all
)]
pub(crate) mod c {
    include!(concat!(env!("OUT_DIR"), "/cores_c.rs"));
}

pub use c::{
    nn_ack as Ack, nn_flow as Flow, nn_replay as Replay, nn_rtt as Rtt, nn_send as Send,
    nn_siblings as Siblings, nn_window as Window, NN_APP_LIMITED as APP_LIMITED,
    NN_DELAYED as DELAYED, NN_LONE as LONE, NN_RETRANSMITTED as RETRANSMITTED,
};

/// Flows of one algorithm in a recorded stream.
pub const REPLAY_FLOWS: usize = c::NN_REPLAY_FLOWS as usize;

/// What the kernel's loss recovery does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Recovery {
    Open = c::NN_OPEN,
    Reduced = c::NN_REDUCED,
    Timeout = c::NN_TIMEOUT,
}

/// What happens to a recorded flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Event {
    Start = c::NN_REPLAY_START,
    Ack = c::NN_REPLAY_ACK,
    Recovery = c::NN_REPLAY_RECOVERY,
    Restart = c::NN_REPLAY_RESTART,
    Undo = c::NN_REPLAY_UNDO,
    Leave = c::NN_REPLAY_LEAVE,
}
