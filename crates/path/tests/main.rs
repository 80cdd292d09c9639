// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! netnice-path: what traffic sees of a path, and how the program behaves. Needs root.

mod harness;
mod process;
mod traffic;
