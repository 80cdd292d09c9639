// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Rules for containers: by id, which cgroups have in their names, and by name or label, which their engines know. Those
//! are looked up when the file is read: the kernel sees ids alone.

use std::collections::BTreeSet;

use super::rule::{NoPattern, Pattern, Rule};
use crate::container::{Container, Engine};
use crate::{Error, Result};

/// What container engines call the cgroup of a container, before its id.
pub(super) const CONTAINERS: [&str; 4] = ["docker-", "libpod-", "cri-containerd-", "crio-"];
/// What systemd has the name end in.
pub(super) const SCOPE: &str = ".scope";
/// An id from which so much is given is a container's wherever it is a cgroup's name.
const UNMISTAKABLE: usize = 12;

/// The names of cgroups that a container of this id may have.
pub(super) fn patterns(id: &Pattern) -> std::result::Result<Vec<Pattern>, NoPattern> {
    let bare = (id.start().len() >= UNMISTAKABLE).then(|| Ok(id.clone()));
    let scopes = CONTAINERS.map(|start| id.between(start, SCOPE));
    scopes.into_iter().chain(bare).collect()
}

/// What engines are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asks {
    what: What,
    /// What the containers are to be; its pattern counts for nothing.
    like: Rule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Name(String),
    Label(String),
}

impl Asks {
    /// Of hexadecimal digits it is an id, or the beginning of one.
    pub(super) fn is_name(value: &str) -> bool {
        Engine::split(value).is_some() || !value.chars().all(|c| c.is_ascii_hexdigit() || c == '*')
    }

    pub(super) fn name(name: String, like: Rule) -> Self {
        let what = What::Name(name);
        Self { what, like }
    }

    pub(super) fn label(label: String, like: Rule) -> Self {
        let what = What::Label(label);
        Self { what, like }
    }

    /// What the rule means now, and a warning. A container that is not there yet is for the next 'apply'.
    pub(super) fn look_up(&self) -> (Vec<Rule>, Option<String>) {
        let found = self.ids();
        let rule = |pattern| Rule {
            pattern,
            ..self.like.clone()
        };
        let of_id = |id: &String| id.parse().and_then(|id| patterns(&id)).unwrap_or_default();
        let nothing = "no container is meant now";
        let warning = match &found {
            Ok(ids) if !ids.is_empty() => None,
            Ok(_) => Some(format!("{nothing}. Apply the rules again when there is one")),
            Err(why) => Some(format!("{nothing}: {}", first_line(why))),
        };
        (found.iter().flatten().flat_map(of_id).map(rule).collect(), warning)
    }

    /// Of containers that docker and podman have now, running or not.
    fn ids(&self) -> Result<BTreeSet<String>> {
        let (engines, text) = match &self.what {
            What::Name(name) => match Engine::split(name) {
                Some((engine, name)) => (vec![engine], name),
                None => (Engine::installed().collect(), name.as_str()),
            },
            What::Label(label) => (Engine::installed().collect(), label.as_str()),
        };
        let (mut ids, mut failed) = (BTreeSet::new(), None);
        for engine in engines {
            let found = match self.what {
                What::Name(_) if engine == Engine::Containerd => Ok(vec![text.to_owned()]),
                What::Name(_) => Container::named(engine, text).map(|one| vec![one.id]),
                What::Label(_) => engine.labelled(text),
            };
            match found {
                Ok(found) => ids.extend(found),
                Err(why) => failed = Some(why),
            }
        }
        match failed.filter(|_| ids.is_empty()) {
            Some(why) => Err(why),
            None => Ok(ids),
        }
    }
}

fn first_line(why: &Error) -> String {
    why.to_string().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_names() {
        for id in ["3f0a*", "*", "3fa0123456789", "cafe"] {
            assert!(!Asks::is_name(id), "{id}");
        }
        for name in ["web", "my-cafe", "podman:cafe", "docker:3f0a"] {
            assert!(Asks::is_name(name), "{name}");
        }
    }

    #[test]
    fn cgroups_of_an_id() {
        let of = |id: &str| patterns(&id.parse().expect("a pattern")).expect("short").len();
        assert_eq!(of("3f0a*"), CONTAINERS.len());
        assert_eq!(of("3fa012345678*"), CONTAINERS.len() + 1);
    }
}
