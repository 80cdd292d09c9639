// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! netnice-prefetch before a site of its own: its hints, its prefetches, its limits, its operation.

mod clients;
mod credentials;
mod harness;
mod hints;
mod hostile;
mod operation;
mod prefetches;
mod upgrades;
