// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The administrator's file: TOML, a `[[rule]]` for each kind of work that should yield.

use std::fmt::{self, Formatter};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::de::{self, Deserializer, Unexpected, Visitor};
use serde::Deserialize;
use toml::Spanned;

use super::containers::{self, Asks, CONTAINERS, SCOPE};
use super::hours::{Hours, NoHours};
use super::rule::{NoPattern, Pattern, Rule, Subject};
use super::{launchers, names};
use crate::cgroup::{Hierarchy, USUAL};
use crate::group::{level_named, Direction, Group, HIGHEST_LEVEL};
use crate::shared::NN_RULES;
use crate::{Error, Result};

/// Where `up`, `policy apply` and `policy check` look.
pub const FILE: &str = "/etc/netnice/policy.toml";

/// The kernel keeps as much of a program's name.
const COMMAND: usize = 15;
/// A rule of the file: where it is, and what it means to the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    unit: Option<Spanned<String>>,
    slice: Option<Spanned<String>>,
    container: Option<Spanned<String>>,
    label: Option<Spanned<String>>,
    cgroup: Option<Spanned<String>>,
    command: Option<Spanned<String>>,
    level: Option<Spanned<Level>>,
    #[serde(default)]
    direction: Direction,
    #[serde(default = "yes")]
    mark: bool,
    quic: Option<Quic>,
    from: Option<Spanned<String>>,
    until: Option<Spanned<String>>,
    inherit: Option<Spanned<bool>>,
    #[serde(rename = "at-least")]
    at_least: Option<Spanned<String>>,
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
    #[error("'{0}' is the root of the cgroups, with all that runs. Name a cgroup below it")]
    Root(String),
    #[error("'{0}' has a '/', and the last part of a cgroup's path has none. To name the whole path, write cgroup")]
    NotLast(String),
    #[error("'{0}' has a '/', and a program's name has none. Name the file without its folders: '{1}'")]
    Path(String, String),
    #[error("'*' names every program, process 1 and login shells too. Name the programs that should yield")]
    EveryProgram,
    #[error("at-least: {0}")]
    Floor(String),
    #[error("inherit is for rules with command: all processes in a cgroup yield, whatever started them")]
    Inherit,
    #[error("'{0}': the kernel knows {COMMAND} bytes of a program's name. End the pattern with '*' before that")]
    Command(String),
}

/// A rule that is none, and the offset of the value at fault; `None`: the rule as a whole.
struct Mistake {
    at: Option<usize>,
    why: NoRule,
}

impl Mistake {
    fn at<T>(value: &Spanned<T>, why: NoRule) -> Self {
        let at = Some(value.span().start);
        Self { at, why }
    }

    fn of_hours(from: Option<&Spanned<String>>, until: Option<&Spanned<String>>, why: NoHours) -> Self {
        let is_wrong = |time: &&Spanned<String>| matches!(&why, NoHours::Time(text) if time.get_ref() == text);
        let value = from.filter(is_wrong).or(until).or(from);
        let at = value.map(|value| value.span().start);
        Self { at, why: why.into() }
    }
}

/// What the file says, in its order.
/// It cannot be read, is no TOML, or has a rule that means nothing: with its line.
pub fn read(path: &Path) -> Result<Vec<Written>> {
    let text = fs::read_to_string(path).map_err(|why| match why.kind() {
        ErrorKind::NotFound => Error::NoPolicy(path.to_owned(), why),
        _ => Error::file("read", path)(why),
    })?;
    let bad = |why| Error::BadPolicy(path.to_owned(), why);
    let hierarchy = Hierarchy::find().ok();
    let root = hierarchy.as_ref().map_or(Path::new(USUAL[1]), Hierarchy::root);
    let mut all = parse(&text, root).map_err(bad)?;
    for rule in &mut all {
        if let Some(asks) = &rule.asks {
            (rule.means, rule.warning) = asks.look_up();
        }
    }
    fits(&all).map_err(bad)?;
    Ok(all)
}

/// `root`: where the cgroups are mounted.
fn parse(text: &str, root: &Path) -> std::result::Result<Vec<Written>, String> {
    let file: File = toml::from_str(text).map_err(|why| why.to_string())?;
    let line = |offset: usize| text[..offset].matches('\n').count() + 1;
    let mut all = Vec::new();
    for entry in file.rule {
        let start = entry.span().start;
        let written = written(line(start), entry.into_inner(), root);
        all.push(written.map_err(|Mistake { at, why }| format!("line {}: {why}", line(at.unwrap_or(start))))?);
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

fn written(line: usize, entry: Entry, root: &Path) -> std::result::Result<Written, Mistake> {
    let mut level = 0;
    if let Some(value) = &entry.level {
        Level(level) = *value.get_ref();
        if level > HIGHEST_LEVEL {
            return Err(Mistake::at(value, NoRule::Level(level)));
        }
    }
    let (from, until) = (entry.from.as_ref(), entry.until.as_ref());
    let text = |time: &Spanned<String>| time.get_ref().clone();
    let hours = Hours::read(from.map(text), until.map(text)).map_err(|why| Mistake::of_hours(from, until, why))?;
    let at_least = match &entry.at_least {
        Some(rate) => Some(
            rate.get_ref()
                .parse()
                .map_err(|why| Mistake::at(rate, NoRule::Floor(why)))?,
        ),
        None => None,
    };
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
        let at = named.get(1).map(|(_, value)| value.span().start);
        let why = NoRule::Subjects(named.len());
        return Err(Mistake { at, why });
    }
    let (key, value) = named.remove(0);
    if let Some(inherit) = entry.inherit.as_ref().filter(|_| key != "command") {
        return Err(Mistake::at(inherit, NoRule::Inherit));
    }
    let like = Rule {
        subject: Subject::Unit,
        pattern: "*".parse().expect("a pattern"),
        group: Group::new(level, entry.mark, entry.direction),
        without_quic: matches!(entry.quic, Some(Quic::Tcp)),
        hours,
        inherit: entry.inherit.is_none_or(Spanned::into_inner),
        at_least,
    };
    let said = meant(key, value.get_ref().clone(), &like, root).map_err(|why| Mistake::at(&value, why))?;
    Ok(Written {
        line,
        text: format!("{key} = \"{}\"", value.get_ref()),
        ..said
    })
}

/// What `key = "value"` means: rules that are otherwise `like`.
fn meant(key: &str, value: String, like: &Rule, root: &Path) -> std::result::Result<Written, NoRule> {
    let pattern = |text: &str| -> std::result::Result<Pattern, NoRule> {
        text.parse().map_err(|why| NoRule::Pattern(text.to_owned(), why))
    };
    let rule = |subject, pattern| Rule {
        subject,
        pattern,
        ..like.clone()
    };
    let (mut warning, mut asks) = (None, None);
    let means = match key {
        "unit" | "slice" | "container" if value.contains('/') => return Err(NoRule::NotLast(value)),
        "unit" => {
            warning = names::unit_warning(&value);
            vec![rule(Subject::Unit, pattern(&value)?)]
        }
        "slice" if !value.ends_with(".slice") => return Err(NoRule::Slice(value)),
        "slice" => vec![rule(Subject::Unit, pattern(&value)?)],
        "cgroup" if !value.starts_with('/') => return Err(NoRule::Relative(value)),
        "cgroup" => match names::below_mount(&value, root) {
            "" => return Err(NoRule::Root(value)),
            below => vec![rule(Subject::Cgroup, pattern(below)?)],
        },
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
                let launcher = launchers::warning(&name).filter(|_| like.inherit);
                let all: Vec<String> = launcher.into_iter().chain(longer).collect();
                warning = (!all.is_empty()).then(|| all.join("; "));
                vec![rule(Subject::Command, name)]
            }
            None => return Err(NoRule::Command(value)),
        },
        "label" => {
            asks = Some(Asks::label(value, like.clone()));
            Vec::new()
        }
        _ if Asks::is_name(&value) => {
            asks = Some(Asks::name(value, like.clone()));
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
        means,
        warning,
        asks,
        ..Written::default()
    })
}

/// Its number, which may be too high.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Level(pub(super) u32);

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Number)
    }
}

struct Number;

impl Visitor<'_> for Number {
    type Value = Level;

    fn expecting(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str("a level: 0, 1, 2, \"low\", \"lower\" or \"lowest\"")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Level, E> {
        let level = u32::try_from(number).map(Level);
        level.map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Level, E> {
        let level = level_named(name).map(Level);
        level.ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
    }
}

#[cfg(test)]
mod tests;
