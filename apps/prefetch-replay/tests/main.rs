// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Browsers from a log: the log, what is played of it, and its statistics.

mod log;
mod play;
