// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receiver side of netnice: what arrives on a cgroup's connections yields to everybody else's traffic.
//!
//! [`Receiver::load`] puts the object into the kernel, [`Receiver::attach`] gives it the connections that a cgroup
//! opens and accepts from then on, and pins keep it there. [`Receiver::load_adopted`] is the same for single sockets of
//! any cgroup, also such as are in use. [`Params`] reads and sets what is tunable, live.

mod core;
mod error;
mod object;
mod params;

pub use crate::core::{thousandth, Clock, Core, Kin, Look, Segment, Wish};
pub use error::{Error, Result};
pub use object::{Counters, Receiver, ADOPTED_PROGRAMS, PROGRAMS};
pub use params::{Algorithm, Parameter, Params, ALGORITHMS, OFF, PARAMETERS};

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/receiver.bpf.o"));
const ADOPTED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/adopted.bpf.o"));
