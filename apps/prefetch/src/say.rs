// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the program says beside its answers.

pub fn warn(text: &str) {
    netnice_output::complain("netnice-prefetch", text);
}
