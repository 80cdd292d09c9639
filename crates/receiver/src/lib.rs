// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receiver side of netnice: what arrives on a cgroup's connections yields to everybody else's traffic.
//!
//! [`Receiver::load`] puts the object into the kernel, [`Receiver::attach`] gives it the connections that a cgroup
//! opens and accepts from then on, and pins keep it there. [`Params`] reads and sets what is tunable, live.

mod core;
mod error;
mod object;
mod params;

pub use crate::core::{Core, Look, Segment};
pub use error::{Error, Result};
pub use object::{Counters, Receiver, PROGRAMS};
pub use params::{Algorithm, Parameter, Params, ALGORITHMS, OFF, PARAMETERS};

/// The eBPF object, to tell builds apart.
pub const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/receiver.bpf.o"));
