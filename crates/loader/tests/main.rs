// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The cores as eBPF runs them, and what the verifier makes of each program. Needs root.

mod replay;
mod verifier;
