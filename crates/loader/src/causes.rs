// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Why what runs in a cgroup is in the background, and what ends that; or why it will be there again.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use jiff::ZonedDateTime;
use serde::Serialize;

use crate::attachments::{above, Attachment};
use crate::cgroup::Hierarchy;
use crate::rules::{naming, removal, Source};

/// A cgroup that has its processes yield, and the rules that say so.
#[derive(Debug, Serialize)]
pub struct Cause {
    #[serde(flatten)]
    pub attachment: Attachment,
    pub rules: Vec<Source>,
}

impl Cause {
    /// Of a cgroup, and of those that it is in; the innermost first. Empty where they may not be read.
    pub fn of(hierarchy: &Hierarchy, cgroup: &Path) -> Vec<Self> {
        let cause = |attachment: Attachment| Self {
            rules: match attachment.by_rule {
                true => naming(&attachment.cgroup),
                false => Vec::new(),
            },
            attachment,
        };
        above(hierarchy, cgroup).into_iter().map(cause).collect()
    }

    /// Of a process.
    pub fn of_process(pid: u32) -> Vec<Self> {
        let Ok(hierarchy) = Hierarchy::find() else {
            return Vec::new();
        };
        let cgroup = hierarchy.cgroup_of(pid);
        cgroup.map_or_else(Vec::new, |cgroup| Self::of(&hierarchy, &cgroup))
    }

    /// What holds it, and how that ends: two sentences.
    pub fn held(&self) -> String {
        let cgroup = self.attachment.cgroup.display();
        match self.attachment.by_rule {
            true => format!("/{cgroup} is named by a rule. To end that: {}.", removal(&self.rules)),
            false => format!("/{cgroup} is attached. To end that: 'sudo netnicectl detach /{cgroup}'."),
        }
    }
}

impl Display for Cause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Attachment { cgroup, group, .. } = &self.attachment;
        write!(f, "{}: at level {group}, ", cgroup.display())?;
        if !self.attachment.by_rule {
            return f.write_str("attached by hand");
        }
        write!(f, "by the policy ({})", listed(&self.rules))
    }
}

/// A cgroup that rules name, and that is in the foreground since a 'detach'.
#[derive(Debug, Serialize)]
pub struct Detached {
    pub cgroup: PathBuf,
    pub rules: Vec<Source>,
}

impl Detached {
    /// The cgroup, and those that it is in. Empty where rules may not be read.
    pub fn of(hierarchy: &Hierarchy, cgroup: &Path) -> Vec<Self> {
        let below_root = |dir: &&Path| *dir != hierarchy.root() && dir.starts_with(hierarchy.root());
        let all = cgroup.ancestors().take_while(below_root);
        all.filter_map(|dir| Self::at(hierarchy, dir)).collect()
    }

    /// The cgroup alone; `None`: it is attached, or no rule that holds now names it.
    pub fn at(hierarchy: &Hierarchy, cgroup: &Path) -> Option<Self> {
        let below = hierarchy.below_root(cgroup);
        if above(hierarchy, cgroup).iter().any(|one| one.cgroup == below) {
            return None;
        }
        let now = ZonedDateTime::now();
        let mut rules = naming(&below);
        rules.retain(|one| one.rule.holds(&now));
        (!rules.is_empty()).then_some(Self { cgroup: below, rules })
    }

    /// When that ends, and how it does not.
    pub fn returns(&self) -> String {
        format!(
            "It is in the background again after the next 'policy apply' or 'up', and when it starts anew. To end that: {}.",
            removal(&self.rules)
        )
    }
}

impl Display for Detached {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let cgroup = self.cgroup.display();
        write!(
            f,
            "{cgroup}: detached, but the policy still names it ({})",
            listed(&self.rules)
        )
    }
}

fn listed(rules: &[Source]) -> String {
    let rules: Vec<String> = rules.iter().map(Source::to_string).collect();
    rules.join("; ")
}
