// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Names with one `*` at most: as much as the kernel's side of the rules compares.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::shared::NN_RULE_TEXT;

const LONGEST: usize = NN_RULE_TEXT as usize;

/// What a name begins with, and what it ends with if anything may be between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub head: String,
    pub tail: Option<String>,
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
    #[error("it is longer than {LONGEST} bytes: replace a part of it by '*'")]
    Long,
}

impl Pattern {
    pub fn matches(&self, name: &str) -> bool {
        match &self.tail {
            None => name == self.head,
            Some(tail) => name
                .strip_prefix(&self.head)
                .is_some_and(|rest| rest.ends_with(tail)),
        }
    }

    /// The same, with something before it.
    pub(super) fn after(&self, start: &str) -> Self {
        Self {
            head: format!("{start}{}", self.head),
            tail: self.tail.clone(),
        }
    }

    pub(super) fn length(&self) -> usize {
        self.head.len() + self.tail.as_ref().map_or(0, String::len)
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
        let pattern = match text.split_once('*') {
            None => Self {
                head: text.to_owned(),
                tail: None,
            },
            Some((_, tail)) if tail.contains('*') => return Err(NoPattern::Stars),
            Some((head, tail)) => Self {
                head: head.to_owned(),
                tail: Some(tail.to_owned()),
            },
        };
        if pattern.length() > LONGEST {
            return Err(NoPattern::Long);
        }
        Ok(pattern)
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
    use super::*;

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
            (&long, NoPattern::Long),
        ] {
            assert_eq!(text.parse::<Pattern>(), Err(why));
        }
    }
}
