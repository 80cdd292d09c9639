// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The `netnice` command: joins the background and becomes the program asked for, or moves what runs already.

mod cli;
mod error;
mod launch;
mod level;
mod moving;
mod pid;
mod report;
mod run;
mod until;

pub use cli::{command, Cli, LevelOption};
pub use error::{Error, FAILED};
pub use run::run;
pub use until::main as wait;
