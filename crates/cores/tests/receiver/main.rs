// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the receivers do: on simulated paths, beside siblings, with clocks that run wrong, with senders that change.

mod arriving;
mod joining;
mod path;
mod properties;
mod returning;
mod rledbat;
mod routes;
mod sampling;
mod siblings;
mod simulated;
mod skew;
mod telling;
mod vulture;
mod wishes;
