// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the receivers do: on simulated paths, beside siblings, with clocks that run wrong, with senders that change.

mod connection;
mod path;
mod properties;
mod rledbat;
mod sampling;
mod siblings;
mod simulated;
mod vulture;
