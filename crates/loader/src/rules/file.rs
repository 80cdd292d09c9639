// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The administrator's file: TOML, a `[[rule]]` for each kind of work that should yield.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

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
/// What container engines call the cgroup of a container, before its id.
const CONTAINERS: [&str; 4] = ["docker-", "libpod-", "cri-containerd-", "crio-"];
/// What systemd has the name end in.
const SCOPE: &str = ".scope";
/// An id from which so much is given is a container's wherever it is a cgroup's name.
const UNMISTAKABLE: usize = 12;

/// A rule of the file: where it is, and what it means to the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Counted from 1.
    pub line: usize,
    /// As it is written.
    pub text: String,
    pub means: Vec<Rule>,
    /// It names more than is written.
    pub warning: Option<String>,
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
    cgroup: Option<String>,
    command: Option<String>,
    #[serde(default)]
    level: Level,
    #[serde(default)]
    direction: Direction,
    #[serde(default = "yes")]
    mark: bool,
    quic: Option<Quic>,
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
    #[error("a rule names one of unit, slice, container, cgroup and command; this one names {0}")]
    Subjects(usize),
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
    parse(&text).map_err(|why| Error::BadPolicy(path.to_owned(), why))
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
    let number: usize = all.iter().map(|written| written.means.len()).sum();
    if number > NN_RULES as usize {
        return Err(format!(
            "{number} rules, a container's counting as {} or more: there is room for {NN_RULES}",
            CONTAINERS.len()
        ));
    }
    Ok(all)
}

fn written(line: usize, entry: Entry) -> std::result::Result<Written, NoRule> {
    let Level(level) = entry.level;
    if level > HIGHEST_LEVEL {
        return Err(NoRule::Level(level));
    }
    let group = Group::new(level, entry.mark, entry.direction);
    let without_quic = matches!(entry.quic, Some(Quic::Tcp));
    let given = [
        ("unit", entry.unit),
        ("slice", entry.slice),
        ("container", entry.container),
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
        inherit,
    };
    let mut warning = None;
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
                warning = (cut != value).then(|| {
                    format!(
                        "the kernel knows {COMMAND} bytes of a program's name: \
                         every program whose name begins with '{cut}' is meant"
                    )
                });
                warning = warning.or_else(|| launchers::warning(&name).filter(|_| inherit));
                vec![rule(Subject::Command, name)]
            }
            None => return Err(NoRule::Command(value)),
        },
        _ => {
            let id = pattern(&value)?;
            let bare = (id.start().len() >= UNMISTAKABLE).then(|| Ok(id.clone()));
            let scopes = CONTAINERS.map(|start| id.between(start, SCOPE));
            let patterns: std::result::Result<Vec<_>, _> = scopes.into_iter().chain(bare).collect();
            let patterns = patterns.map_err(|why| NoRule::Container(value, why))?;
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(text: &str) -> Vec<String> {
        let all = parse(&format!("[[rule]]\n{text}")).expect("valid");
        let rules = all.iter().flat_map(|written| &written.means);
        rules.map(Rule::to_string).collect()
    }

    #[test]
    fn what_rules_mean() {
        assert_eq!(
            means("unit = 'restic*.service'\nlevel = 1"),
            ["units and cgroups named restic*.service: 1"]
        );
        assert_eq!(means("unit = 'a'\nlevel = 'lowest'"), means("unit = 'a'\nlevel = 2"));
        assert_eq!(
            means("cgroup = '/kubepods.slice/*'\ndirection = 'receive'\nmark = false"),
            ["cgroups /kubepods.slice/*: 0 unmarked receive only"]
        );
        assert_eq!(
            means("command = 'transmission-daemon'"),
            ["programs named transmission-da: 0"]
        );
        assert_eq!(
            means("command = 'brave'\nquic = 'tcp'"),
            ["programs named brave: 0, without QUIC"]
        );
        assert_eq!(
            means("command = 'podman'\ninherit = false"),
            ["programs named podman: 0, without what they start"]
        );
        assert_eq!(means("container = '3f*'").len(), CONTAINERS.len());
        let long = means("container = '3fa0123456789*'");
        assert_eq!(long.len(), CONTAINERS.len() + 1);
        assert!(long[0].starts_with("units and cgroups named docker-3fa0123456789*.scope"));
    }

    #[test]
    fn a_name_that_the_kernel_cuts_is_warned_of() {
        let warning = |command: &str| {
            let mut all = parse(&format!("[[rule]]\ncommand = '{command}'")).expect("valid");
            all.remove(0).warning
        };
        for whole in ["curl", "exactly-fifteen", "a*", "*-daemon"] {
            assert_eq!(warning(whole), None, "{whole}");
        }
        let said = warning("transmission-daemon").unwrap_or_default();
        assert!(
            said.contains("15 bytes") && said.contains("'transmission-da'"),
            "{said}"
        );
    }

    #[test]
    fn a_launcher_whose_children_inherit_is_warned_of() {
        for (inherit, warned) in [("", true), ("inherit = true", true), ("inherit = false", false)] {
            let all = parse(&format!("[[rule]]\ncommand = 'podman'\n{inherit}")).expect("valid");
            assert_eq!(all[0].warning.is_some(), warned, "{inherit}");
        }
    }

    #[test]
    fn nothing_is_a_policy() {
        assert_eq!(parse("# none yet\n"), Ok(Vec::new()));
    }

    #[test]
    fn lines() {
        let text = "\n# a\n[[rule]]\nunit = 'a'\n\n[[rule]]\nunit = 'b'\n";
        let lines: Vec<_> = parse(text).expect("valid").iter().map(|w| w.line).collect();
        assert_eq!(lines, [3, 6]);
    }

    #[test]
    fn what_is_refused_says_where() {
        let container = format!("[[rule]]\ncontainer = '{}'", "a".repeat(108));
        let many = "[[rule]]\nunit = 'x'\n".repeat(NN_RULES as usize + 1);
        for (text, why) in [
            ("[[rule]]\n", "line 1: a rule names one of"),
            ("[[rule]]\nunit = 'a'\ncommand = 'b'", "this one names 2"),
            ("\n[[rule]]\nunit = 'a'\nlevel = 3", "line 2: there is no level 3"),
            ("[[rule]]\nunit = 'a'\nlevel = 'high'", "expected a level: 0, 1, 2, "),
            ("[[rule]]\nunit = 'a*b*'", "line 1: 'a*b*': it has several '*'"),
            ("[[rule]]\nslice = 'a.service'", "is no slice"),
            ("[[rule]]\ncgroup = 'a'", "does not begin with '/'"),
            ("[[rule]]\ncommand = 'a-very-long-one*name'", "15 bytes"),
            (
                "[[rule]]\ncommand = '/usr/bin/curl'",
                "Name the file without its folders: 'curl'",
            ),
            ("[[rule]]\ncommand = '*'", "line 1: '*' names every program"),
            ("[[rule]]\nunit = 'system.slice/a.service'", "write cgroup"),
            ("[[rule]]\nslice = '/a.slice'", "write cgroup"),
            ("[[rule]]\ncontainer = '/3f*'", "write cgroup"),
            (&container, "with what container engines write before an id"),
            (
                "[[rule]]\nunit = 'a'\ninherit = false",
                "inherit is for rules with command",
            ),
            ("[[rule]]\nunits = 'a'", "unknown field `units`"),
            ("[[rule]]\nunit = 'a'\ndirection = 'up'", "unknown variant `up`"),
            ("[[rule]]\nunit = 'a'\nquic = 'udp'", "expected `tcp`"),
            ("rule = 1", "line 1"),
            (&many, "there is room for 64"),
        ] {
            let said = parse(text).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    /// Files as a person or a program may write them: right, nearly right, and of any length and letters.
    fn generated(random: &mut fastrand::Rng) -> String {
        const KEYS: [&str; 7] = ["unit", "slice", "container", "cgroup", "command", "level", "units"];
        const PIECES: [&str; 10] = [
            "a",
            "*",
            "/",
            ".slice",
            "é",
            "日",
            "?",
            "0123456789abcdef",
            " ",
            "docker-",
        ];
        const OTHERS: [&str; 9] = [
            "level = 2",
            "level = 4294967295",
            "mark = false",
            "direction = 'send'",
            "direction = 'receive'",
            "quic = 'tcp'",
            "inherit = false",
            "mark = 1",
            "",
        ];
        let mut text = String::new();
        for _ in 0..random.usize(..4) {
            let pieces = match random.usize(..8) {
                0 => random.usize(..140),
                _ => random.usize(..8),
            };
            let value: String = (0..pieces).filter_map(|_| random.choice(PIECES)).collect();
            let start = if random.bool() { "/" } else { "" };
            let key = random.choice(KEYS).unwrap_or_default();
            let other = random.choice(OTHERS).unwrap_or_default();
            text += &format!("[[rule]]\n{key} = '{start}{value}'\n{other}\n");
        }
        text
    }

    /// Each is refused with a reason, or every rule of it reaches the kernel and comes back as it was.
    #[test]
    fn a_million_files() {
        const FILES: usize = 1_000_000;
        let mut random = fastrand::Rng::with_seed(34);
        let (mut held, mut refused) = (0, 0);
        for _ in 0..FILES {
            let text = generated(&mut random);
            let Ok(all) = parse(&text) else {
                refused += 1;
                continue;
            };
            for rule in all.into_iter().flat_map(|written| written.means) {
                assert_eq!(Rule::of_kernel(&rule.to_kernel()), Some(rule), "{text}");
            }
            held += 1;
        }
        assert!(held.min(refused) > FILES / 20, "{held} held, {refused} were refused");
    }
}
