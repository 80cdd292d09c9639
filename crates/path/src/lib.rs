// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A network path in user space, between two network namespaces.
//!
//! `link` is the model, without I/O or clock; `system` is Linux; `emulator` joins them.

pub mod address;
pub mod class;
pub mod direction;
pub mod emulator;
pub mod endpoints;
pub mod link;
pub mod options;
pub mod report;
pub mod run;
pub mod system;
pub mod trace;

use clap::CommandFactory;

/// The command line of `netnice-path`, for man pages and completions.
pub fn command() -> clap::Command {
    options::Options::command()
}
