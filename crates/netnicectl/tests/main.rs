// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The program: its output, and that it waits for a reservation to end.

mod output;
mod reservation;
