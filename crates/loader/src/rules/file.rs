// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The administrator's file: TOML, a `[[rule]]` for each kind of work that should yield.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::containers::{self, Asks, CONTAINERS, SCOPE};
use super::hours::{Hours, NoHours};
use super::launchers;
use super::level::Level;
use super::rule::{NoPattern, Pattern, Rule, Subject};
use crate::group::{Direction, Group, HIGHEST_LEVEL};
use crate::shared::NN_RULES;
use crate::{Error, Result};

/// Where `up`, `policy apply` and `policy check` look.
pub const FILE: &str = "/etc/netnice/policy.toml";

/// The kernel keeps as much of a program's name.
const COMMAND: usize = 15;
/// A rule of the file: where it is, and what it means to the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Counted from 1.
    pub line: usize,
    /// As it is written.
    pub text: String,
    pub means: Vec<Rule>,
    /// It names more than is written, or nothing.
    pub warning: Option<String>,
    pub asks: Option<Asks>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    unit: Option<String>,
    slice: Option<String>,
    container: Option<String>,
    label: Option<String>,
    cgroup: Option<String>,
    command: Option<String>,
    #[serde(default)]
    level: Level,
    #[serde(default)]
    direction: Direction,
    #[serde(default = "yes")]
    mark: bool,
    quic: Option<Quic>,
    from: Option<String>,
    until: Option<String>,
    inherit: Option<bool>,
}

/// What it uses in place of QUIC.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Quic {
    /// It is refused QUIC, and so uses TCP, which yields.
    Tcp,
}

fn yes() -> bool {
    true
}

/// Why a rule is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum NoRule {
    #[error("a rule names one of unit, slice, container, label, cgroup and command; this one names {0}")]
    Subjects(usize),
    #[error(transparent)]
    Hours(#[from] NoHours),
    #[error("there is no level {0}: levels are 0 to {HIGHEST_LEVEL}")]
    Level(u32),
    #[error("'{0}': {1}")]
    Pattern(String, NoPattern),
    #[error("'{0}', with what container engines write before an id, and {SCOPE}: {1}")]
    Container(String, NoPattern),
    #[error("'{0}' is no slice: those end in .slice")]
    Slice(String),
    #[error("'{0}' does not begin with '/': a cgroup is named by its path below the root. To name its last part, write unit")]
    Relative(String),
    #[error("'{0}' has a '/', and the last part of a cgroup's path has none. To name the whole path, write cgroup")]
    NotLast(String),
    #[error("'{0}' has a '/', and a program's name has none. Name the file without its folders: '{1}'")]
    Path(String, String),
    #[error("'*' names every program, process 1 and login shells too. Name the programs that should yield")]
    EveryProgram,
    #[error("inherit is for rules with command: all processes in a cgroup yield, whatever started them")]
    Inherit,
    #[error("'{0}': the kernel knows {COMMAND} bytes of a program's name. End the pattern with '*' before that")]
    Command(String),
}

/// What the file says, in its order.
/// It cannot be read, is no TOML, or has a rule that means nothing: with its line.
pub fn read(path: &Path) -> Result<Vec<Written>> {
    let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
    let bad = |why| Error::BadPolicy(path.to_owned(), why);
    let mut all = parse(&text).map_err(bad)?;
    for rule in &mut all {
        if let Some(asks) = &rule.asks {
            (rule.means, rule.warning) = asks.look_up();
        }
    }
    fits(&all).map_err(bad)?;
    Ok(all)
}

fn parse(text: &str) -> std::result::Result<Vec<Written>, String> {
    let file: File = toml::from_str(text).map_err(|why| why.to_string())?;
    let line = |offset: usize| text[..offset].matches('\n').count() + 1;
    let mut all = Vec::new();
    for entry in file.rule {
        let line = line(entry.span().start);
        let written = written(line, entry.into_inner());
        all.push(written.map_err(|why| format!("line {line}: {why}"))?);
    }
    fits(&all)?;
    Ok(all)
}

fn fits(all: &[Written]) -> std::result::Result<(), String> {
    let number: usize = all.iter().map(|written| written.means.len()).sum();
    if number > NN_RULES as usize {
        return Err(format!(
            "{number} rules, a container's counting as {} or more: there is room for {NN_RULES}",
            CONTAINERS.len()
        ));
    }
    Ok(())
}

fn written(line: usize, entry: Entry) -> std::result::Result<Written, NoRule> {
    let Level(level) = entry.level;
    if level > HIGHEST_LEVEL {
        return Err(NoRule::Level(level));
    }
    let group = Group::new(level, entry.mark, entry.direction);
    let hours = Hours::read(entry.from, entry.until)?;
    let without_quic = matches!(entry.quic, Some(Quic::Tcp));
    let given = [
        ("unit", entry.unit),
        ("slice", entry.slice),
        ("container", entry.container),
        ("label", entry.label),
        ("cgroup", entry.cgroup),
        ("command", entry.command),
    ];
    let mut named: Vec<_> = given
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect();
    if named.len() != 1 {
        return Err(NoRule::Subjects(named.len()));
    }
    let (key, value) = named.remove(0);
    if key != "command" && entry.inherit.is_some() {
        return Err(NoRule::Inherit);
    }
    let inherit = entry.inherit.unwrap_or(true);
    let text = format!("{key} = \"{value}\"");
    let pattern = |text: &str| -> std::result::Result<Pattern, NoRule> {
        text.parse().map_err(|why| NoRule::Pattern(text.to_owned(), why))
    };
    let rule = |subject, pattern| Rule {
        subject,
        pattern,
        group,
        without_quic,
        hours,
        inherit,
    };
    let (mut warning, mut asks) = (None, None);
    let means = match key {
        "unit" | "slice" | "container" if value.contains('/') => return Err(NoRule::NotLast(value)),
        "unit" => vec![rule(Subject::Unit, pattern(&value)?)],
        "slice" if !value.ends_with(".slice") => return Err(NoRule::Slice(value)),
        "slice" => vec![rule(Subject::Unit, pattern(&value)?)],
        "cgroup" if !value.starts_with('/') => return Err(NoRule::Relative(value)),
        "cgroup" => vec![rule(Subject::Cgroup, pattern(&value)?)],
        "command" if value == "*" => return Err(NoRule::EveryProgram),
        "command" if value.contains('/') => {
            let file = value.rsplit('/').next().unwrap_or_default().to_owned();
            return Err(NoRule::Path(value, file));
        }
        "command" => match pattern(&value)?.cut(COMMAND) {
            Some(name) => {
                let cut = name.to_string();
                let longer = (cut != value).then(|| {
                    format!(
                        "the kernel knows {COMMAND} bytes of a program's name: \
                         every program whose name begins with '{cut}' is meant"
                    )
                });
                let launcher = launchers::warning(&name).filter(|_| inherit);
                let all: Vec<String> = launcher.into_iter().chain(longer).collect();
                warning = (!all.is_empty()).then(|| all.join("; "));
                vec![rule(Subject::Command, name)]
            }
            None => return Err(NoRule::Command(value)),
        },
        "label" => {
            asks = Some(Asks::label(value, rule(Subject::Unit, pattern("*")?)));
            Vec::new()
        }
        _ if Asks::is_name(&value) => {
            asks = Some(Asks::name(value, rule(Subject::Unit, pattern("*")?)));
            Vec::new()
        }
        _ => {
            let patterns = containers::patterns(&pattern(&value)?).map_err(|why| NoRule::Container(value, why))?;
            patterns
                .into_iter()
                .map(|pattern| rule(Subject::Unit, pattern))
                .collect()
        }
    };
    Ok(Written {
        line,
        text,
        means,
        warning,
        asks,
    })
}

#[cfg(test)]
mod tests;
