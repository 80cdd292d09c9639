// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What was measured: a file of JSON lines that only grows.

mod file;
mod record;

pub use file::{read, Damage, Results, ResultsError};
pub use record::{Failure, Latency, Measurement, Record, Start};
