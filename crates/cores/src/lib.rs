// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The cores of `algorithms/` on the host, compiled from the files that ship: the senders' here, the receivers' in
//! [`receiver`]. For tests; nothing that is installed links them.
//!
//! A [`Core`] is one flow of one algorithm. It has no clock and no socket: the caller hands in [`Ack`]s and gets
//! [`Send`]s, by the way that every user of the cores takes. Windows are in 1/4096 segment ([`ONE`]), times in microseconds.

pub mod decision;
pub mod receiver;

use std::cell::RefCell;
use std::rc::Rc;

use c::{nn_beginning as Beginning, nn_connection as Connection, nn_places as Places, nn_replay_host as ReplayHost};

/// One segment in the cores' fixed point.
pub const ONE: u32 = 1 << 12;

mod table {
    include!(concat!(env!("OUT_DIR"), "/table.rs"));
}

pub use table::{Algorithm, Param};

const PARAMS: usize = table::PARAMS;

/// The shipped parameters.
fn defaults(algorithm: Algorithm) -> [u32; PARAMS] {
    // SAFETY: a constant table that the C side never writes; the enum has its rows.
    unsafe { c::nn_defaults[algorithm as usize] }
}

/// One flow of one algorithm, alone on its host or with siblings that a test makes up.
#[derive(Clone, Debug)]
pub struct Core {
    algorithm: Algorithm,
    params: [u32; PARAMS],
    places: Rc<RefCell<Places>>,
    /// As the last ACK had it.
    delivered: u32,
    /// Where it goes, and whose it is.
    pub to: Destination,
    /// What the core is told of siblings instead of what is.
    pub siblings: Option<Siblings>,
    /// What the core remembers; tests may look and set.
    pub flow: Flow,
}

impl Core {
    /// A new flow with the algorithm's shipped parameters, whose handshake took `srtt_us`.
    pub fn new(algorithm: Algorithm, now_us: u32, srtt_us: u32) -> Self {
        let mut core = Core {
            algorithm,
            params: defaults(algorithm),
            places: Rc::default(),
            delivered: 0,
            to: Destination {
                algorithm: algorithm as u32,
                ..Destination::default()
            },
            siblings: None,
            flow: Flow::default(),
        };
        core.start(now_us, srtt_us);
        core
    }

    /// The same flow from its start with one parameter changed.
    pub fn with(mut self, param: Param, value: u32) -> Self {
        self.params[param as usize] = value;
        let (now_us, srtt_us) = (self.flow.last_us, self.flow.rtt.smoothed);
        self.start(now_us, srtt_us);
        self
    }

    /// The same flow from its start, with so many segments in flight that another congestion control has sent.
    pub fn taking_over(mut self, in_flight: u32) -> Self {
        let (now_us, srtt_us) = (self.flow.last_us, self.flow.rtt.smoothed);
        self.start_with(now_us, srtt_us, in_flight);
        self
    }

    /// It runs on the same host as another.
    pub fn beside(mut self, other: &Self) -> Self {
        self.places = Rc::clone(&other.places);
        self
    }

    /// Pointers to what this flow is; they are good until the next move.
    fn connection(&mut self) -> Connection {
        Connection {
            flow: &mut self.flow,
            p: self.params.as_ptr(),
            places: self.places.as_ptr(),
            to: &self.to,
        }
    }

    fn start(&mut self, now_us: u32, srtt_us: u32) {
        self.start_with(now_us, srtt_us, 0);
    }

    fn start_with(&mut self, now_us: u32, srtt_us: u32, in_flight: u32) {
        let ack = Ack {
            now_us,
            in_flight,
            ..Ack::default()
        };
        let beginning = Beginning {
            srtt_us,
            ..Beginning::default()
        };
        let mut send = Send::default();
        // SAFETY: all pointers are to live, properly laid out data of the sizes the C side expects.
        unsafe { c::nn_core_start(self.algorithm as u32, &self.connection(), &ack, &beginning, &mut send) }
    }

    /// Takes one ACK in and says how to send until the next.
    pub fn on_ack(&mut self, ack: &Ack) -> Send {
        let mut send = Send::default();
        if let Some(siblings) = self.siblings {
            // SAFETY: as in `start`.
            unsafe { c::nn_core_siblings(&self.connection(), &siblings, ack.now_us) }
        }
        // SAFETY: as in `start`.
        unsafe { c::nn_core_on_ack(self.algorithm as u32, &self.connection(), ack, &mut send) };
        self.delivered = ack.delivered;
        send
    }

    /// The kernel's loss recovery changed state.
    pub fn recovery(&mut self, state: Recovery) {
        // SAFETY: as in `start`.
        unsafe {
            c::nn_core_recovery(
                self.algorithm as u32,
                &self.connection(),
                state as u32,
                self.flow.last_us,
                self.delivered,
            )
        }
    }

    /// The sender sends again after silence.
    pub fn restart(&mut self, now_us: u32, delivered: u32) {
        // SAFETY: as in `start`.
        unsafe { c::nn_core_restart(self.algorithm as u32, &self.connection(), now_us, delivered) }
    }

    /// The connection comes from another algorithm of ours, with its base RTT and its window in segments.
    pub fn resume(&mut self, base_us: u32, cwnd: u32) {
        // SAFETY: as in `start`.
        unsafe { c::nn_core_resume(&mut self.flow, base_us, cwnd) }
    }

    /// Ends as the shim does when the socket gets another algorithm. Returns the handover token that it leaves there, 0
    /// for none, and how the socket may send until the next algorithm decides.
    pub fn leave(&self) -> (u32, Send) {
        let mut send = Send::default();
        // SAFETY: as in `start`.
        let word = unsafe { c::nn_core_leave(&self.clone().connection(), &mut send) };
        (word, send)
    }

    /// A flow that has just started takes up what it finds on its socket; false when that is not ours.
    pub fn inherit(&mut self, word: u32, cwnd: u32) -> bool {
        // SAFETY: as in `start`.
        unsafe { c::nn_core_inherit(&mut self.flow, word, cwnd) }
    }

    /// The last loss was none.
    pub fn undo(&mut self) {
        // SAFETY: as in `start`.
        unsafe { c::nn_core_undo(self.algorithm as u32, &self.connection()) }
    }

    /// The RTT above which a segment counts as slow, microseconds.
    pub fn rtt_limit(&self) -> u32 {
        // SAFETY: as in `start`.
        unsafe { c::nn_core_rtt_limit(&self.flow) }
    }

    /// The window, in 1/4096 segment.
    pub fn window(&self) -> u32 {
        self.flow.win.w
    }
}

/// Some flows of one algorithm on a host, to which a recorded stream happens.
#[derive(Debug)]
pub struct Replayed {
    params: [u32; PARAMS],
    host: ReplayHost,
}

impl Replayed {
    /// With the shipped parameters, and no flow yet.
    pub fn new(algorithm: Algorithm) -> Self {
        Replayed {
            params: defaults(algorithm),
            host: ReplayHost::default(),
        }
    }

    /// One step; its outputs are filled in.
    pub fn replay(&mut self, step: &mut Replay) {
        // SAFETY: as in `Core::start`.
        unsafe { c::nn_core_replay(&mut self.host, self.params.as_ptr(), step) }
    }

    /// A flow, by its number.
    pub fn flow(&self, number: usize) -> &Flow {
        &self.host.flows[number]
    }
}

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

/// `steps` events of some flows of `algorithm`: ACKs over a path whose queue comes and goes. Now and then there is a loss, a
/// timeout, an undo, silence, or a flow that ends and starts again. One ACK in sixteen is one that no path would send.
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
            lost: 0,
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

/// A share in the byte that a sender has for it, and from it: kbit/s.
pub fn share_encoded(share: u32) -> u8 {
    // SAFETY: a function of a number.
    unsafe { c::nn_core_share_encoded(share) }
}

/// The share of such a byte, kbit/s.
pub fn share_decoded(code: u8) -> u32 {
    // SAFETY: a function of a number.
    unsafe { c::nn_core_share_decoded(code) }
}

/// A connection of a group with this rate ends a round with so many bytes: what it is to have at least. Both kbit/s.
pub fn group_share(group: &mut Group, rate: u32, start_us: u32, now_us: u32, bytes: u32) -> u32 {
    // SAFETY: the group is laid out as in C.
    unsafe { c::nn_core_group_share(group, rate, start_us, now_us, bytes) }
}

#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, dead_code, clippy::all)]
pub(crate) mod c {
    include!(concat!(env!("OUT_DIR"), "/cores_c.rs"));
}

pub use c::{
    nn_ack as Ack, nn_destination as Destination, nn_flow as Flow, nn_group as Group, nn_replay as Replay,
    nn_rtt as Rtt, nn_send as Send, nn_siblings as Siblings, nn_window as Window, NN_APP_LIMITED as APP_LIMITED,
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
