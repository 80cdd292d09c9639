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

/// `struct nn_segment`: facts about one arrival.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    pub now_us: u32,
    pub seq: u32,
    pub bytes: u32,
    pub segments: u32,
    pub stamped: u32,
    pub tsval: u32,
    pub tsecr: u32,
    pub clock: u32,
}

#[repr(C)]
struct Leaving {
    ack: u32,
    clock: u32,
    now_us: u32,
}

/// What can be seen of a flow: bytes, microseconds.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    pub window: u32,
    pub target: u32,
    pub estimate: u32,
    pub floor: u32,
    pub queue: u32,
    pub tick: u32,
    pub edge: u32,
    pub rounds: u32,
    pub policy: u32,
    pub aggressive: u32,
    pub pivs: u32,
    pub thresh: u32,
    /// What our clock gains on the peer's: 2^-24.
    pub skew: i32,
}

extern "C" {
    static nn_host_size: u32;
    fn nn_host_arrival(
        flow: *mut u64,
        siblings: *mut Siblings,
        p: *const u32,
        chosen: u32,
        seg: *const Segment,
    );
    fn nn_host_ack(flow: *mut u64, ack: *const Leaving) -> u32;
    fn nn_host_tell(flow: *mut u64, window: u32) -> bool;
    fn nn_host_microseconds(millisecond: *mut u64, ns: u64) -> u32;
    fn nn_host_join(flow: *mut u64, acked: u32);
    fn nn_host_look(flow: *const u64, look: *mut Look);
    fn nn_host_thousandth(n: u64) -> u64;
    fn nn_host_wished(wish: u32) -> u32;
    fn nn_host_may_stop(wish: u32, of_cgroup: bool) -> bool;
}

/// `struct nn_receiver_siblings`: what the flows of one host know of each other.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Siblings {
    numbers: u32,
    last: u32,
    last_us: u32,
    other_us: u32,
}

/// One flow. `None` as algorithm: off.
#[derive(Clone, Debug)]
pub struct Core {
    flow: Vec<u64>,
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
        // SAFETY: a constant.
        let words = unsafe { nn_host_size } as usize / 8 + 1;
        Self {
            flow: vec![0; words],
            chosen: Some(chosen),
            params: ALGORITHMS[chosen].defaults.to_vec(),
            siblings: Rc::default(),
        }
    }

    /// The flow was in use before, and begins to yield now; `acked` is the newest acknowledgement sent.
    pub fn join(&mut self, acked: u32) {
        // SAFETY: the buffer has the size and the alignment of struct nn_receiver.
        unsafe { nn_host_join(self.flow.as_mut_ptr(), acked) }
    }

    /// A segment arrives.
    pub fn arrival(&mut self, seg: &Segment) {
        let chosen = self.chosen.map_or(u32::MAX, |c| c as u32);
        // SAFETY: the buffer has the size and the alignment of struct nn_receiver, the rest is laid out as in C.
        unsafe {
            let siblings = self.siblings.as_ptr();
            nn_host_arrival(
                self.flow.as_mut_ptr(),
                siblings,
                self.params.as_ptr(),
                chosen,
                seg,
            );
        }
    }

    /// An ACK leaves: the window it carries, bytes; 0: the kernel's own.
    pub fn ack(&mut self, ack: u32, clock: u32, now_us: u32) -> u32 {
        // SAFETY: as above.
        unsafe { nn_host_ack(self.flow.as_mut_ptr(), &Leaving { ack, clock, now_us }) }
    }

    /// Is `window`, as [`Core::ack`] had it, to be told to the kernel?
    pub fn tell(&mut self, window: u32) -> bool {
        // SAFETY: as above.
        unsafe { nn_host_tell(self.flow.as_mut_ptr(), window) }
    }

    /// The flow as it is now.
    pub fn look(&self) -> Look {
        let mut look = Look::default();
        // SAFETY: as above; `Look` has the words that the C side writes, in its order.
        unsafe { nn_host_look(self.flow.as_ptr(), &mut look) };
        look
    }
}

/// A thousandth, without a division: of up to thirteen years of nanoseconds.
pub fn thousandth(n: u64) -> u64 {
    // SAFETY: a function of a number.
    unsafe { nn_host_thousandth(n) }
}

/// A clock that remembers the millisecond it was last in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock([u64; 2]);

impl Clock {
    /// Microseconds of `ns`, and of the millisecond it is in; both wrap.
    pub fn microseconds(&mut self, ns: u64) -> (u32, u32) {
        // SAFETY: two words, as the C side wants them.
        let us = unsafe { nn_host_microseconds(self.0.as_mut_ptr(), ns) };
        (us, self.0[1] as u32)
    }
}

/// `enum nn_wish`: who has a connection yield.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Nobody,
    Application,
    /// `netnice -p`, or an administrator.
    Netnice,
}

impl Wish {
    /// What the map of wishes holds once the application has asked too.
    pub fn and_application(self) -> u32 {
        // SAFETY: a function of a number.
        unsafe { nn_host_wished(self as u32) }
    }

    /// May the application take it back? `of_cgroup`: the connection yields because its level's cgroup does.
    pub fn may_stop(self, of_cgroup: bool) -> bool {
        // SAFETY: a function of numbers.
        unsafe { nn_host_may_stop(self as u32, of_cgroup) }
    }
}
