// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Where a rule that holds is written, so that a message can name the line to change.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use serde::Serialize;

use super::{current, read, Rule, Written, FILE};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Source {
    #[serde(flatten)]
    pub rule: Rule,
    /// Of [`FILE`]; `None`: the rule is another file's, or the file has changed since.
    pub line: Option<usize>,
}

/// The rules that hold and name the cgroup of this path below the root.
pub fn naming(below: &Path) -> Vec<Source> {
    let below = below.to_string_lossy();
    let rules: Vec<Rule> = current().into_iter().filter(|rule| rule.names_cgroup(&below)).collect();
    match rules.is_empty() {
        true => Vec::new(),
        false => located(rules, &read(Path::new(FILE)).unwrap_or_default()),
    }
}

fn located(rules: Vec<Rule>, written: &[Written]) -> Vec<Source> {
    let line = |rule: &Rule| Some(written.iter().find(|one| one.means.contains(rule))?.line);
    let source = |rule| Source {
        line: line(&rule),
        rule,
    };
    rules.into_iter().map(source).collect()
}

/// What to do so that these rules end: a sentence without its full stop.
pub fn removal(sources: &[Source]) -> String {
    let lines: Vec<String> = sources.iter().filter_map(|one| Some(one.line?.to_string())).collect();
    match lines.len() {
        0 => "remove the rule from the file that was applied, then 'sudo netnicectl policy apply FILE'".to_owned(),
        1 => format!(
            "remove the rule at line {} of {FILE}, then 'sudo netnicectl policy apply'",
            lines[0]
        ),
        _ => format!(
            "remove the rules at lines {} of {FILE}, then 'sudo netnicectl policy apply'",
            lines.join(" and ")
        ),
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        self.rule.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::{Direction, Group};
    use crate::rules::Subject;

    fn rule(pattern: &str) -> Rule {
        Rule {
            subject: Subject::Unit,
            pattern: pattern.parse().expect("valid"),
            group: Group::new(0, true, Direction::Both),
            without_quic: false,
            hours: None,
            inherit: true,
            at_least: None,
        }
    }

    #[test]
    fn a_rule_is_found_by_what_it_means() {
        let written = |line, pattern| Written {
            line,
            means: vec![rule(pattern)],
            ..Written::default()
        };
        let file = [written(3, "a.service"), written(8, "b*")];
        let found = located(vec![rule("b*"), rule("c")], &file);
        let lines: Vec<_> = found.iter().map(|one| one.line).collect();
        assert_eq!(lines, [Some(8), None]);
        assert_eq!(found[0].to_string(), "line 8: units and cgroups named b*: at level 0");
        assert_eq!(found[1].to_string(), "units and cgroups named c: at level 0");
        assert!(removal(&found).contains("the rule at line 8 of /etc/netnice/policy.toml"));
        assert!(removal(&found[1..]).contains("'sudo netnicectl policy apply FILE'"));
        let both = located(vec![rule("a.service"), rule("b*")], &file);
        assert!(removal(&both).contains("the rules at lines 3 and 8 of"));
    }
}
