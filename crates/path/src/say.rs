// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Messages for people.

use std::fmt::Display;
use std::io::Write;

/// Says something on standard error; that nobody reads it any more must not end the path (`eprintln!` would panic).
pub fn say(message: impl Display) {
    writeln!(std::io::stderr(), "netnice-path: {message}").ok();
}
