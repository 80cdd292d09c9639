// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receiver cores on the host, compiled from the files that ship, with undefined behaviour turned into a trap.

use crate::ALGORITHMS;

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
}

extern "C" {
    static nn_host_size: u32;
    fn nn_host_arrival(flow: *mut u64, p: *const u32, chosen: u32, seg: *const Segment);
    fn nn_host_ack(flow: *mut u64, ack: *const Leaving) -> u32;
    fn nn_host_look(flow: *const u64, look: *mut Look);
}

/// One flow. `None` as algorithm: off.
#[derive(Clone, Debug)]
pub struct Core {
    flow: Vec<u64>,
    /// The row of the table it runs.
    pub chosen: Option<usize>,
    /// Its parameters, in the order of `PARAMETERS`.
    pub params: Vec<u32>,
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
        }
    }

    /// A segment arrives.
    pub fn arrival(&mut self, seg: &Segment) {
        let chosen = self.chosen.map_or(u32::MAX, |c| c as u32);
        // SAFETY: the buffer has the size and the alignment of struct nn_receiver, the rest is laid out as in C.
        unsafe { nn_host_arrival(self.flow.as_mut_ptr(), self.params.as_ptr(), chosen, seg) }
    }

    /// An ACK leaves: the window it carries, bytes; 0: the kernel's own.
    pub fn ack(&mut self, ack: u32, clock: u32, now_us: u32) -> u32 {
        // SAFETY: as above.
        unsafe { nn_host_ack(self.flow.as_mut_ptr(), &Leaving { ack, clock, now_us }) }
    }

    /// The flow as it is now.
    pub fn look(&self) -> Look {
        let mut look = Look::default();
        // SAFETY: as above; `Look` has the words that the C side writes, in its order.
        unsafe { nn_host_look(self.flow.as_ptr(), &mut look) };
        look
    }
}
