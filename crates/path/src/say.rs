// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Messages for people: on standard error, since standard output is COMMAND's.

use std::fmt::Display;

/// Says something; that nobody reads it any more must not end the path.
pub fn say(message: impl Display) {
    netnice_output::complain("netnice-path", message);
}
