// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The cores of `algorithms/` on the host, compiled from the files that ship: the senders' here, the receivers' in
//! [`receiver`]. For tests; nothing that is installed links them.
//!
//! A [`Core`] is one flow of one algorithm. It has no clock and no socket: the caller hands in [`Ack`]s and gets
//! [`Send`]s. Windows are in 1/4096 segment ([`ONE`]), times in microseconds.

mod layout;
pub mod receiver;
mod stream;

pub use layout::{Ack, Event, Flow, Recovery, Replay, Rtt, Send, Window, APP_LIMITED, LONE};
pub use stream::recorded;

/// One segment in the cores' fixed point.
pub const ONE: u32 = 1 << 12;

mod table {
    include!(concat!(env!("OUT_DIR"), "/table.rs"));
}

pub use table::{Algorithm, Param};

const PARAMS: usize = table::PARAMS;
const ALGORITHMS: usize = table::ALGORITHMS;

extern "C" {
    static nn_defaults: [[u32; PARAMS]; ALGORITHMS];
    fn nn_core_init(
        algorithm: u32,
        flow: *mut Flow,
        p: *const u32,
        now_us: u32,
        delivered: u32,
        srtt_us: u32,
    );
    fn nn_core_on_ack(
        algorithm: u32,
        flow: *mut Flow,
        p: *const u32,
        ack: *const Ack,
        send: *mut Send,
    );
    fn nn_core_replay(flow: *mut Flow, p: *const u32, step: *mut Replay);
    fn nn_core_recovery(algorithm: u32, flow: *mut Flow, p: *const u32, state: u32);
    fn nn_core_restart(flow: *mut Flow, p: *const u32, now_us: u32);
    fn nn_core_leave(flow: *const Flow, send: *mut Send) -> u32;
    fn nn_core_inherit(flow: *mut Flow, word: u32, cwnd: u32) -> bool;
    fn nn_core_resume(flow: *mut Flow, base_us: u32, cwnd: u32);
    fn nn_core_undo(flow: *mut Flow);
    fn nn_core_rtt_limit(flow: *mut Flow, p: *const u32) -> u32;
}

/// One flow of one algorithm.
#[derive(Clone, Debug)]
pub struct Core {
    algorithm: Algorithm,
    params: [u32; PARAMS],
    /// What the core remembers; tests may look and set.
    pub flow: Flow,
}

impl Core {
    /// A new flow with the algorithm's shipped parameters, whose handshake took `srtt_us`.
    pub fn new(algorithm: Algorithm, now_us: u32, srtt_us: u32) -> Self {
        // SAFETY: a constant table that the C side never writes; the enum has its rows.
        let params = unsafe { nn_defaults[algorithm as usize] };
        let mut core = Core {
            algorithm,
            params,
            flow: Flow::default(),
        };
        core.init(now_us, srtt_us);
        core
    }

    /// The same flow from its start with one parameter changed.
    pub fn with(mut self, param: Param, value: u32) -> Self {
        self.params[param as usize] = value;
        let (now_us, srtt_us) = (self.flow.last_us, self.flow.rtt.smoothed);
        self.init(now_us, srtt_us);
        self
    }

    fn init(&mut self, now_us: u32, srtt_us: u32) {
        // SAFETY: both pointers are to live, properly laid out data of the sizes the C side expects.
        unsafe {
            nn_core_init(
                self.algorithm as u32,
                &mut self.flow,
                self.params.as_ptr(),
                now_us,
                0,
                srtt_us,
            )
        }
    }

    /// Takes one ACK in and says how to send until the next.
    pub fn on_ack(&mut self, ack: &Ack) -> Send {
        let mut send = Send::default();
        // SAFETY: as in `init`; `ack` and `send` outlive the call.
        unsafe {
            nn_core_on_ack(
                self.algorithm as u32,
                &mut self.flow,
                self.params.as_ptr(),
                ack,
                &mut send,
            )
        };
        send
    }

    /// The kernel's loss recovery changed state.
    pub fn recovery(&mut self, state: Recovery) {
        // SAFETY: as in `init`.
        unsafe {
            nn_core_recovery(
                self.algorithm as u32,
                &mut self.flow,
                self.params.as_ptr(),
                state as u32,
            )
        }
    }

    /// The sender sends again after silence.
    pub fn restart(&mut self, now_us: u32) {
        // SAFETY: as in `init`.
        unsafe { nn_core_restart(&mut self.flow, self.params.as_ptr(), now_us) }
    }

    /// The connection comes from another algorithm of ours, with its base RTT and its window in segments.
    pub fn resume(&mut self, base_us: u32, cwnd: u32) {
        // SAFETY: as in `init`.
        unsafe { nn_core_resume(&mut self.flow, base_us, cwnd) }
    }

    /// Ends as the shim does when the socket is given to another algorithm: the word that it leaves there, 0 for
    /// none, and how the socket may send until the next one says more.
    pub fn leave(&self) -> (u32, Send) {
        let mut send = Send::default();
        // SAFETY: as in `init`; `send` outlives the call.
        let word = unsafe { nn_core_leave(&self.flow, &mut send) };
        (word, send)
    }

    /// A flow that has just started takes up what it finds on its socket; false when that is not ours.
    pub fn inherit(&mut self, word: u32, cwnd: u32) -> bool {
        // SAFETY: as in `init`.
        unsafe { nn_core_inherit(&mut self.flow, word, cwnd) }
    }

    /// The last loss was none.
    pub fn undo(&mut self) {
        // SAFETY: as in `init`.
        unsafe { nn_core_undo(&mut self.flow) }
    }

    /// The RTT above which a segment counts as slow, microseconds.
    pub fn rtt_limit(&self) -> u32 {
        // SAFETY: as in `init`.
        unsafe { nn_core_rtt_limit(&mut self.flow.clone(), self.params.as_ptr()) }
    }

    /// One step of a recorded flow; the step's outputs are filled in.
    pub fn replay(&mut self, step: &mut Replay) {
        // SAFETY: as in `init`.
        unsafe { nn_core_replay(&mut self.flow, self.params.as_ptr(), step) }
    }

    /// The window, in 1/4096 segment.
    pub fn window(&self) -> u32 {
        self.flow.win.w
    }
}
