// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The structures of `algorithms/` that tests see, field by field; a test holds the sizes to each other.

/// `NN_APP_LIMITED`: the sender ran out of data.
pub const APP_LIMITED: u32 = 1;
/// `NN_LONE`: a delayed ACK may be in the RTT.
pub const LONE: u32 = 2;
/// `NN_DELAYED`: the kernel takes the ACK for a delayed one.
pub const DELAYED: u32 = 4;
/// `NN_RETRANSMITTED`: among the segments was one that had been sent before.
pub const RETRANSMITTED: u32 = 8;

/// `struct nn_ack`: facts about one ACK.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    pub now_us: u32,
    pub delivered: u32,
    pub sent_delivered: u32,
    pub acked: u32,
    pub rtt_us: u32,
    pub in_flight: u32,
    pub mss: u32,
    pub held_us: u32,
    pub flags: u32,
    pub peer_stamp: u32,
}

/// `struct nn_send`: what the sender may do.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Send {
    pub cwnd: u32,
    pub rate: u64,
    pub now: bool,
}

/// `enum nn_recovery`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Recovery {
    Open,
    Reduced,
    Timeout,
}

/// `struct nn_window`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    pub w: u32,
    pub ssthresh: u32,
    pub prior_w: u32,
    pub floor: u32,
}

/// `struct nn_rtt`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Rtt {
    pub min: u32,
    pub max: u32,
    pub smoothed: u32,
    pub recent_min: u32,
    pub window_us: u32,
}

/// `struct nn_round`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    pub end: u32,
    pub start_us: u32,
    pub credit: u32,
    pub seen: u32,
    pub slow: u32,
    pub min_rtt: u32,
    pub max_rtt: u32,
}

/// `struct nn_flow`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Flow {
    pub win: Window,
    pub rtt: Rtt,
    pub round: Round,
    pub last_us: u32,
    pub drained: u32,
    /// `rtt_source`, `recovery`, `sub_packet` and `ready`, packed.
    pub states: u8,
    pub sub_packet_rounds: u8,
    pub last_rtt: u16,
    pub own: [u32; 7],
}

/// `enum nn_replay_event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Event {
    Start,
    Ack,
    Recovery,
    Restart,
    Undo,
    Leave,
}

/// `struct nn_replay`: one step of a recorded flow, with what the core made of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    pub algorithm: u32,
    pub event: u32,
    pub value: u32,
    pub window: u32,
    pub ack: Ack,
    pub flow: u32,
    pub reserved: u32,
    pub send: Send,
}

/// `NN_REPLAY_FLOWS`: flows of one algorithm in a recorded stream.
pub const REPLAY_FLOWS: usize = 4;

/// `struct nn_replay_host`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReplayHost {
    pub flows: [Flow; REPLAY_FLOWS],
    pub places: Places,
}

/// `struct nn_siblings`: what a core is told of its siblings at the end of a round.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Siblings {
    pub flows: u32,
    pub window: u32,
    pub worst_rtt: u32,
    pub sub_packet: u32,
}

/// `struct nn_places`: what the flows of a host know of each other.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    sub_packet: u64,
    place: [[u64; 3]; 64],
}

impl Default for Places {
    fn default() -> Self {
        Places {
            sub_packet: 0,
            place: [[0; 3]; 64],
        }
    }
}

/// `struct nn_beginning`: what a connection begins with.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Beginning {
    pub srtt_us: u32,
    pub legacy: u32,
    pub cwnd: u32,
}

/// `struct nn_connection`.
#[repr(C)]
pub(crate) struct Connection {
    pub flow: *mut Flow,
    pub p: *const u32,
    pub places: *mut Places,
    pub destination: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" {
        static nn_sizes: [u32; 7];
    }

    #[test]
    fn structures_have_the_size_of_their_c_originals() {
        // SAFETY: a constant.
        let c = unsafe { nn_sizes };
        let rust = [
            size_of::<Ack>() as u32,
            size_of::<Send>() as u32,
            size_of::<Flow>() as u32,
            size_of::<Siblings>() as u32,
            size_of::<Places>() as u32,
            size_of::<Replay>() as u32,
            size_of::<ReplayHost>() as u32,
        ];
        assert_eq!(rust, c);
    }
}
