// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One rule, as the kernel's side compares it.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use jiff::ZonedDateTime;
use serde::{Serialize, Serializer};

use super::hours::Hours;
use crate::floor::Floor;
use crate::group::Group;
use crate::shared::{
    nn_rule, nn_rule_subject, NN_NICENESS_ALONE, NN_NICENESS_NO_QUIC, NN_RULE_COMMAND, NN_RULE_NAME, NN_RULE_PATH,
    NN_RULE_TEXT,
};
use crate::{deadline, niceness};

/// What a pattern is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// The last part of a cgroup's path: a unit has such a name, and a container.
    Unit,
    /// All of it, below the root.
    Cgroup,
    /// The name of a program that a process executes.
    Command,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    pub subject: Subject,
    #[serde(serialize_with = "as_text")]
    pub pattern: Pattern,
    #[serde(flatten)]
    pub group: Group,
    /// It does without QUIC, so that it uses TCP, which yields.
    pub without_quic: bool,
    /// It holds then only.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub hours: Option<Hours>,
    /// Programs that it starts are in the background too.
    pub inherit: bool,
    /// What each process or cgroup that it names has, with all below, in each direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Floor>,
}

fn as_text<S: Serializer>(pattern: &Pattern, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(pattern)
}

impl Rule {
    /// Does it name the cgroup of this path below the root, without a slash at its beginning?
    pub fn names_cgroup(&self, below: &str) -> bool {
        match self.subject {
            Subject::Unit => self.pattern.matches(below.rsplit('/').next().unwrap_or(below)),
            Subject::Cgroup => self.pattern.matches(&format!("/{below}")),
            Subject::Command => false,
        }
    }

    /// Does it name a program, of a name as the kernel cuts it?
    pub fn names_command(&self, name: &str) -> bool {
        self.subject == Subject::Command && self.pattern.matches(name)
    }

    /// Does it hold now?
    pub fn holds(&self, now: &ZonedDateTime) -> bool {
        self.hours.is_none_or(|hours| hours.window(now).begins.is_none())
    }

    /// As enum nn_niceness_bit has it.
    pub(super) fn niceness(&self) -> u32 {
        niceness::bits_with_quic(self.group, self.without_quic) | if self.inherit { 0 } else { NN_NICENESS_ALONE }
    }

    pub(super) fn to_kernel(&self) -> nn_rule {
        let tail = self.pattern.tail.as_deref().unwrap_or_default();
        let mut text = [0; NN_RULE_TEXT as usize];
        let both = self.pattern.head.bytes().chain(tail.bytes());
        text.iter_mut().zip(both).for_each(|(to, byte)| *to = byte); // a pattern is not longer
        let [from, until] = self.hours.map_or([0, 0], Hours::to_seconds);
        let window = self.hours.map(|hours| hours.window(&ZonedDateTime::now()));
        nn_rule {
            from,
            until,
            at_least: self.at_least.map_or(0, Floor::kbits),
            begins: window.and_then(|window| window.begins).map_or(0, deadline::to_kernel),
            ends: window.map_or(0, |window| deadline::to_kernel(window.ends)),
            subject: number(self.subject),
            niceness: self.niceness(),
            head: self.pattern.head.len() as u32,
            tail: tail.len() as u32,
            open: self.pattern.tail.is_some().into(),
            text,
        }
    }

    /// `None`: no rule, or another build's.
    pub(super) fn of_kernel(found: &nn_rule) -> Option<Self> {
        let (head, rest) = found.text.split_at_checked(found.head as usize)?;
        let tail = rest.get(..found.tail as usize)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let subjects = [Subject::Unit, Subject::Cgroup, Subject::Command];
        Some(Self {
            subject: subjects.into_iter().find(|s| number(*s) == found.subject)?,
            pattern: Pattern::new(text(head)?, if found.open == 0 { None } else { Some(text(tail)?) }).ok()?,
            group: niceness::group(found.niceness)?,
            without_quic: found.niceness & NN_NICENESS_NO_QUIC != 0,
            hours: Hours::of_seconds(found.from, found.until),
            inherit: found.niceness & NN_NICENESS_ALONE == 0,
            at_least: Floor::of_kbits(found.at_least),
        })
    }
}

fn number(subject: Subject) -> nn_rule_subject {
    match subject {
        Subject::Unit => NN_RULE_NAME,
        Subject::Cgroup => NN_RULE_PATH,
        Subject::Command => NN_RULE_COMMAND,
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let what = match self.subject {
            Subject::Unit => "units and cgroups named",
            Subject::Cgroup => "cgroups",
            Subject::Command => "programs named",
        };
        let quic = if self.without_quic { ", without QUIC" } else { "" };
        let alone = if self.inherit { "" } else { ", without what they start" };
        write!(f, "{what} {}: at level {}{quic}{alone}", self.pattern, self.group)?;
        if let Some(floor) = self.at_least {
            write!(f, ", at least {floor}")?;
        }
        self.hours.map_or(Ok(()), |hours| write!(f, ", {hours}"))
    }
}

const LONGEST: usize = NN_RULE_TEXT as usize;

/// What a name begins with, and, with a '*', what it ends with. Together they have at most 128 bytes, the room of the
/// kernel's side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    head: String,
    tail: Option<String>,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPattern {
    #[error("it is empty: name something")]
    Empty,
    #[error("it has several '*': one is as much as is compared when a cgroup is made. Write a rule for each form")]
    Stars,
    #[error("it has a '{0}', which stands for itself: of wildcards there is '*' only. Write a rule for each form")]
    Other(char),
    #[error("it has {0} bytes, and there is room for {LONGEST}: replace a part of it by '*'")]
    Long(usize),
}

impl Pattern {
    fn new(head: String, tail: Option<String>) -> Result<Self, NoPattern> {
        match head.len() + tail.as_ref().map_or(0, String::len) {
            length if length > LONGEST => Err(NoPattern::Long(length)),
            _ => Ok(Self { head, tail }),
        }
    }

    pub fn matches(&self, name: &str) -> bool {
        match &self.tail {
            None => name == self.head,
            Some(tail) => name.strip_prefix(&self.head).is_some_and(|rest| rest.ends_with(tail)),
        }
    }

    /// The same between two texts.
    pub(super) fn between(&self, start: &str, end: &str) -> Result<Self, NoPattern> {
        let head = format!("{start}{}", self.head);
        match &self.tail {
            Some(tail) => Self::new(head, Some(format!("{tail}{end}"))),
            None => Self::new(head + end, None),
        }
    }

    /// Names of `longest` bytes at most, as the kernel cuts them; `None`: no such name matches.
    pub(super) fn cut(mut self, longest: usize) -> Option<Self> {
        match &self.tail {
            Some(tail) if self.head.len() + tail.len() > longest => return None,
            Some(_) => {}
            None => {
                let end = (0..=longest).rev().find(|i| self.head.is_char_boundary(*i));
                self.head.truncate(end.unwrap_or(0));
            }
        }
        Some(self)
    }

    /// The bytes that every name that it matches begins with.
    pub(super) fn start(&self) -> &str {
        &self.head
    }
}

impl FromStr for Pattern {
    type Err = NoPattern;

    fn from_str(text: &str) -> Result<Self, NoPattern> {
        if text.is_empty() {
            return Err(NoPattern::Empty);
        }
        if let Some(other) = text.chars().find(|c| "?[]{}".contains(*c)) {
            return Err(NoPattern::Other(other));
        }
        match text.split_once('*') {
            None => Self::new(text.to_owned(), None),
            Some((_, tail)) if tail.contains('*') => Err(NoPattern::Stars),
            Some((head, tail)) => Self::new(head.to_owned(), Some(tail.to_owned())),
        }
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.tail {
            None => f.write_str(&self.head),
            Some(tail) => write!(f, "{}*{tail}", self.head),
        }
    }
}

#[cfg(test)]
mod tests {
    use netnice_cores as _;

    use super::*;
    use crate::group::Direction;

    // links the kernel's side

    extern "C" {
        fn nn_test_rule_matches(rule: *const nn_rule, name: *const u8, length: u32) -> bool;
    }

    fn words(letters: &str, longest: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        for at in 0.. {
            let Some(word) = all.get(at).cloned().filter(|word| word.len() < longest) else {
                return all;
            };
            all.extend(letters.chars().map(|letter| format!("{word}{letter}")));
        }
        all
    }

    #[test]
    fn the_kernel_matches_what_this_does() {
        let patterns = words("ab*", 4);
        let patterns = patterns.iter().filter(|word| word.parse::<Pattern>().is_ok());
        for pattern in patterns {
            let rule = rule(Subject::Command, pattern);
            for name in words("ab", 6) {
                // SAFETY: a rule, and as many bytes as are said.
                let theirs = unsafe { nn_test_rule_matches(&rule.to_kernel(), name.as_ptr(), name.len() as u32) };
                assert_eq!(theirs, rule.names_command(&name), "{pattern} {name}");
            }
        }
    }

    fn rule(subject: Subject, pattern: &str) -> Rule {
        Rule {
            subject,
            pattern: pattern.parse().expect("valid"),
            group: Group::new(1, false, Direction::Send),
            without_quic: false,
            hours: None,
            inherit: true,
            at_least: None,
        }
    }

    #[test]
    fn cgroups_by_name_and_by_path() {
        let unit = rule(Subject::Unit, "a*.service");
        assert!(unit.names_cgroup("system.slice/ab.service"));
        assert!(!unit.names_cgroup("a.service/below"));
        let path = rule(Subject::Cgroup, "/kubepods.slice/*");
        assert!(path.names_cgroup("kubepods.slice/a/b"));
        assert!(!path.names_cgroup("other/kubepods.slice/a"));
        assert!(!rule(Subject::Command, "*").names_cgroup("a"));
    }

    #[test]
    fn there_and_back() {
        for pattern in ["a", "a*", "*a", "a*b", "*"] {
            for subject in [Subject::Unit, Subject::Cgroup, Subject::Command] {
                for (without_quic, inherit) in [(false, true), (true, true), (false, false), (true, false)] {
                    let one = Rule {
                        without_quic,
                        inherit,
                        ..rule(subject, pattern)
                    };
                    assert_eq!(Rule::of_kernel(&one.to_kernel()), Some(one));
                }
            }
        }
    }

    #[test]
    fn what_matches() {
        for (pattern, name, does) in [
            ("a.service", "a.service", true),
            ("a.service", "a.service2", false),
            ("restic*.service", "restic-home.service", true),
            ("restic*.service", "restic.service", true),
            ("restic*.service", "restic.timer", false),
            ("ab*ba", "aba", false),
            ("*", "anything", true),
            ("*.scope", ".scope", true),
        ] {
            let parsed: Pattern = pattern.parse().expect("valid");
            assert_eq!(parsed.matches(name), does, "{pattern} {name}");
            assert_eq!(parsed.to_string(), pattern);
        }
    }

    #[test]
    fn what_is_none() {
        let long = "x".repeat(LONGEST + 1);
        for (text, why) in [
            ("", NoPattern::Empty),
            ("a*b*", NoPattern::Stars),
            ("a?", NoPattern::Other('?')),
            ("{a,b}", NoPattern::Other('{')),
            (&long, NoPattern::Long(LONGEST + 1)),
        ] {
            assert_eq!(text.parse::<Pattern>(), Err(why));
        }
    }

    #[test]
    fn every_group_has_bits_of_its_own() {
        use niceness::{bits, group};
        for one in Group::all() {
            assert_eq!(group(bits(one)), Some(one));
        }
        assert_eq!(group(0), None);
        let added = bits(Group::new(0, true, Direction::Send)) | bits(Group::new(2, true, Direction::Receive));
        assert_eq!(group(added), Some(Group::new(2, true, Direction::Both)));
    }
}
