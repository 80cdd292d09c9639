// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The `netnice` command: joins the background and becomes the program asked for.

mod cli;
mod error;
mod launch;
mod level;

pub use cli::{command, Cli};
pub use error::{Error, FAILED};
pub use launch::run;
