// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Progress on standard error: one moving line on a terminal, a line a step elsewhere.

use std::io::{stderr, IsTerminal, Write};

const WIDTH: usize = 24;
/// To the beginning of the line, and clear it.
const AGAIN: &str = "\r\x1b[K";

pub struct Progress {
    terminal: bool,
    title: String,
}

impl Progress {
    pub fn new() -> Self {
        Self {
            terminal: stderr().is_terminal(),
            title: String::new(),
        }
    }

    /// A share of all of 0 to 1, and what is done now.
    pub fn show(&mut self, share: f64, title: &str) {
        if self.terminal {
            write(&format!("{AGAIN}{}", line(share, title)));
        } else if self.title != title {
            write(&format!("{title}\n"));
        }
        title.clone_into(&mut self.title);
    }

    /// Removes the moving line.
    pub fn end(&mut self) {
        if self.terminal && !self.title.is_empty() {
            write(AGAIN);
        }
        self.title.clear();
    }
}

/// A message must not be written behind the moving line.
impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

fn line(share: f64, title: &str) -> String {
    let done = (share.clamp(0.0, 1.0) * WIDTH as f64).round() as usize;
    format!("{}{} {title}", "█".repeat(done), "·".repeat(WIDTH - done))
}

/// Without a reader the work goes on.
fn write(text: &str) {
    let mut to = stderr().lock();
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_as_long_whatever_the_share() {
        for share in [-1.0, 0.0, 0.3, 1.0, 7.0] {
            assert_eq!(line(share, "x").chars().count(), WIDTH + 2, "{share}");
        }
        assert!(line(0.0, "x").starts_with('·') && line(1.0, "x").ends_with("█ x"));
    }
}
