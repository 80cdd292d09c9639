// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What this program has to say to people.

use std::fmt::Display;

/// Says a line on standard error.
pub fn say(line: impl Display) {
    netnice_output::complain("netnice-measure", line);
}
