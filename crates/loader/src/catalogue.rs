// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! All there is to choose from, a line each, for lists and manual pages. Read off the tables.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

#[cfg(test)]
#[path = "../../build/head.rs"]
mod head;

use crate::group::{Direction, Group, HIGHEST_LEVEL};
use crate::receiver;
use crate::settings::{Algorithm, ALGORITHMS};

/// The levels, for help.
pub const LEVELS: &str = "\
Levels:
  0, low     background (default)
  1, lower   also yields to level 0
  2, lowest  also yields to levels 0 and 1";

/// One row of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Only of what is behind a level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    pub name: &'static str,
    /// Paper or source, and in what the row differs from the first one of its core.
    pub about: String,
}

/// The levels, the receivers, and what 'up --with' loads. The first receiver is the default.
#[derive(Debug, Clone, Serialize)]
pub struct Catalogue {
    pub levels: Vec<Entry>,
    pub receivers: Vec<Entry>,
    pub comparison: Vec<Entry>,
}

impl Catalogue {
    pub fn read() -> Self {
        let level = |level| {
            let name = Group::new(level, true, Direction::Both).congestion_control();
            let row = ALGORITHMS.iter().find(|a| a.name == name)?;
            Some(Entry {
                level: Some(level),
                name: row.name,
                about: about_level(level, row),
            })
        };
        let levels: Vec<Entry> = (0..=HIGHEST_LEVEL).filter_map(level).collect();
        let others = ALGORITHMS.iter().filter(|a| levels.iter().all(|l| l.name != a.name));
        Self {
            receivers: receiver::ALGORITHMS
                .iter()
                .map(|a| entry(a, receiver::ALGORITHMS))
                .collect(),
            comparison: others.map(|a| entry(a, ALGORITHMS)).collect(),
            levels,
        }
    }

    /// As [`Display`], but no line is longer than `width`: the rest of it follows below, farther in.
    pub fn wrapped(&self, width: usize) -> String {
        let text = self.to_string();
        let lines: Vec<String> = text.lines().map(|line| wrap(line, width)).collect();
        lines.join("\n")
    }
}

/// What tells a level from the others; of the default where it comes from.
fn about_level(level: u32, row: &Algorithm) -> String {
    let about = row.about.split_once(": ").map_or(row.about, |(_, about)| about);
    match level {
        0 => format!("background (default); {about}"),
        1 => "also yields to level 0".to_owned(),
        _ => "also yields to levels 0 and 1".to_owned(),
    }
}

/// A row of one of the two tables, `all`.
fn entry(row: &Algorithm, all: &[Algorithm]) -> Entry {
    let usual = all.iter().find(|a| a.core == row.core).unwrap_or(row);
    let own = row.defaults.iter().copied();
    Entry {
        level: None,
        name: row.name,
        about: differing(row.about, own.filter(|pair| !usual.defaults.contains(pair))),
    }
}

fn differing(about: &str, own: impl Iterator<Item = (&'static str, impl Display)>) -> String {
    let own: Vec<String> = own.map(|(name, value)| format!("{name}={value}")).collect();
    if own.is_empty() {
        return about.to_owned();
    }
    format!("{about}; {}", own.join(" "))
}

impl Display for Catalogue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let parts = [
            (
                "Levels (netnice -n LEVEL), and the algorithm that sends at each:",
                &self.levels,
            ),
            (
                "Receivers (netnicectl set receiver algorithm=NAME), the default first:",
                &self.receivers,
            ),
            (
                "For comparison (netnicectl up --with NAME; 'nice' is always loaded):",
                &self.comparison,
            ),
        ];
        for (i, (title, entries)) in parts.into_iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{title}")?;
            for e in entries {
                let level = e.level.map_or(" ".to_owned(), |level| level.to_string());
                writeln!(f, "  {level} {:<NAMES$} {}", e.name, e.about)?;
            }
        }
        Ok(())
    }
}

/// Room for the longest name, 'vulture_cautious'.
const NAMES: usize = 16;
const INDENT: usize = 2 + 1 + 1 + NAMES + 1;

fn wrap(line: &str, width: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if used + length > width && used > INDENT {
            text.truncate(text.trim_end().len());
            text.push('\n');
            text.push_str(&" ".repeat(INDENT));
            used = INDENT;
        }
        text.push_str(word);
        used += word.chars().count();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_tables_is_there_once() {
        let c = Catalogue::read();
        let mut senders: Vec<_> = c.levels.iter().chain(&c.comparison).map(|e| e.name).collect();
        let mut rows: Vec<_> = ALGORITHMS.iter().map(|a| a.name).collect();
        senders.sort_unstable();
        rows.sort_unstable();
        assert_eq!(senders, rows);
        assert_eq!(c.receivers.len(), receiver::ALGORITHMS.len());
        assert_eq!(c.levels.len(), HIGHEST_LEVEL as usize + 1);
    }

    #[test]
    fn no_two_lines_of_a_part_say_the_same() {
        let c = Catalogue::read();
        for part in [&c.levels, &c.receivers, &c.comparison] {
            for (i, entry) in part.iter().enumerate() {
                assert!(!entry.about.contains(".h"), "source files are not for users: {entry:?}");
                let same = part[..i].iter().find(|other| other.about == entry.about);
                assert!(same.is_none(), "{same:?} {entry:?}");
            }
        }
    }

    #[test]
    fn names_papers_and_what_a_row_changes() {
        let text = Catalogue::read().to_string();
        for said in [
            "0 netnice ",
            "OSDI 2002",
            "RFC 6817",
            "RFC 9840",
            "research report 474",
            "TCP-LP (",
            "quantum=4000",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }

    #[test]
    fn long_lines_go_on_below() {
        let text = Catalogue::read().wrapped(72);
        assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
        let joined = |t: &str| t.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(joined(&text), joined(&Catalogue::read().to_string()));
    }
}
