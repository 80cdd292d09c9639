// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receiver cores on the host, compiled from the files that ship, with undefined behaviour turned into a trap.

use std::cell::Cell;
use std::rc::Rc;

/// One row of algorithms/receiver/table.h. The first is the default.
#[derive(Debug, Clone, Copy)]
pub struct Algorithm {
    pub name: &'static str,
    /// The file that decides.
    pub core: &'static str,
    /// In the order of [`PARAMETERS`].
    pub defaults: &'static [u32],
}

include!(concat!(env!("OUT_DIR"), "/receivers.rs"));

#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, dead_code, clippy::all)]
mod c {
    include!(concat!(env!("OUT_DIR"), "/receivers_c.rs"));
}

pub use c::{
    nn_counted as Counted, nn_group as Group, nn_host_look as Look, nn_noted as Noted,
    nn_receiver_siblings as Siblings, nn_segment as Segment,
};

/// What came since the last sample, of what TCP has counted and noted; `None`: nothing.
pub fn sample(last: &mut Counted, tcp: &Noted) -> Option<Segment> {
    let mut segment = Segment::default();
    // SAFETY: three structures that live as long as the call.
    unsafe { c::nn_host_sample(last, tcp, &mut segment) }.then_some(segment)
}

/// One flow. `None` as algorithm: off.
#[derive(Clone, Debug)]
pub struct Core {
    flow: Box<c::nn_receiver>,
    /// The row of the table it runs.
    pub chosen: Option<usize>,
    /// Its parameters, in the order of `PARAMETERS`.
    pub params: Vec<u32>,
    /// What it knows of the host's other flows: share it with them.
    pub siblings: Rc<Cell<Siblings>>,
}

impl Core {
    /// A flow of the named algorithm with the shipped parameters.
    ///
    /// # Panics
    /// When the table has no such row.
    pub fn new(algorithm: &str) -> Self {
        let chosen = ALGORITHMS
            .iter()
            .position(|a| a.name == algorithm)
            .expect("a row of the table");
        Self {
            flow: Box::default(),
            chosen: Some(chosen),
            params: ALGORITHMS[chosen].defaults.to_vec(),
            siblings: Rc::default(),
        }
    }

    /// The flow was in use before, and begins to yield now; `acked` is the newest acknowledgement sent.
    pub fn join(&mut self, acked: u32) {
        // SAFETY: the flow is C's own.
        unsafe { c::nn_host_join(&mut *self.flow, acked) }
    }

    /// A segment arrives.
    pub fn arrival(&mut self, seg: &Segment) {
        let chosen = self.chosen.map_or(u32::MAX, |c| c as u32);
        // SAFETY: all of it is laid out as in C.
        unsafe {
            let siblings = self.siblings.as_ptr();
            c::nn_host_arrival(&mut *self.flow, siblings, self.params.as_ptr(), chosen, seg);
        }
    }

    /// A round is over: what the flow is to have at least, kbit/s, as one of a group with this rate.
    pub fn share(&mut self, group: &mut Group, rate: u32, now_us: u32) -> u32 {
        // SAFETY: as above.
        unsafe { c::nn_host_share(&mut *self.flow, group, rate, now_us) }
    }

    /// An ACK leaves: the window it carries, bytes; 0: the kernel's own.
    pub fn ack(&mut self, ack: u32, clock: u32, now_us: u32) -> u32 {
        // SAFETY: as above.
        unsafe { c::nn_host_ack(&mut *self.flow, &c::nn_leaving { ack, clock, now_us }) }
    }

    /// Is `window`, as [`Core::ack`] had it, to be told to the kernel?
    pub fn tell(&mut self, window: u32) -> bool {
        // SAFETY: as above.
        unsafe { c::nn_host_tell(&mut *self.flow, window) }
    }

    /// The flow as it is now.
    pub fn look(&self) -> Look {
        // SAFETY: as above; it is only looked at.
        unsafe { c::nn_host_look(&mut *self.flow.clone()) }
    }
}

/// A thousandth, without a division: of up to thirteen years of nanoseconds.
pub fn thousandth(n: u64) -> u64 {
    // SAFETY: a function of a number.
    unsafe { c::nn_host_thousandth(n) }
}

/// A fifth, without a division below 2^32.
pub fn fifth(n: u64) -> u64 {
    // SAFETY: a function of a number.
    unsafe { c::nn_host_fifth(n) }
}

/// What TCP_WINDOW_CLAMP is set to, bytes, for the core's window and the application's own clamp; 0: none.
pub fn clamp_of(window: u32, own: u32) -> u32 {
    // SAFETY: a function of numbers.
    unsafe { c::nn_host_clamp_of(window, own) }
}

/// The application's own clamp of a connection in use with a receive buffer of so many bytes; 0: none.
pub fn own_clamp(clamp: u32, buffer: u32) -> u32 {
    // SAFETY: a function of numbers.
    unsafe { c::nn_host_own_clamp(clamp, buffer) }
}

/// Does netnice choose a smaller window scale for a socket with this clamp of its application's own?
pub fn limits_scale(own: u32) -> bool {
    // SAFETY: a function of a number.
    unsafe { c::nn_host_limits_scale(own) }
}

/// A clock that remembers the millisecond it was last in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock(c::nn_millisecond);

impl Clock {
    /// Microseconds of `ns`, and of the millisecond it is in; both wrap.
    pub fn microseconds(&mut self, ns: u64) -> (u32, u32) {
        // SAFETY: the clock is C's own.
        let us = unsafe { c::nn_host_microseconds(&mut self.0, ns) };
        (us, self.0.us)
    }
}

/// `enum nn_wish`: what asked a connection to yield.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Nobody = c::NN_BY_NOBODY,
    Application = c::NN_BY_APPLICATION,
    /// `netnice -p`, or an administrator.
    Netnice = c::NN_BY_NETNICE,
}

impl Wish {
    /// What the map of wishes holds once the application has asked too.
    pub fn and_application(self) -> u32 {
        // SAFETY: a function of a number.
        unsafe { c::nn_host_wished(self as u32) }
    }

    /// May the application take it back? `of_cgroup`: the connection yields because its level's cgroup does.
    pub fn may_stop(self, of_cgroup: bool) -> bool {
        // SAFETY: a function of numbers.
        unsafe { c::nn_host_may_stop(self as u32, of_cgroup) }
    }
}
