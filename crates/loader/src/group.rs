// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Which traffic yields, and to which other: what a cgroup stands for, and its name.

use std::fmt::{self, Display, Formatter};

use procfs::process::Process;
use procfs::{ProcResult, ProcessCGroups};
use serde::{Deserialize, Serialize};

/// The highest level there is; 0 yields least.
pub const HIGHEST_LEVEL: u32 = 2;
/// What users may call the levels instead of 0, 1 and 2.
pub const LEVEL_NAMES: [&str; HIGHEST_LEVEL as usize + 1] = ["low", "lower", "lowest"];
/// The cgroup that holds those of all groups, below the root.
pub(crate) const PARENT: &str = "netnice";

/// The level of a name.
pub fn level_named(name: &str) -> Option<u32> {
    (0..=HIGHEST_LEVEL)
        .zip(LEVEL_NAMES)
        .find_map(|(level, its)| (its == name).then_some(level))
}

/// A level, by number or name: for clap's `value_parser`.
/// There is none of that name or number.
pub fn level(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|level| *level <= HIGHEST_LEVEL);
    let found = number.or_else(|| level_named(text));
    found.ok_or_else(|| "levels are 0, 1 and 2, or low, lower and lowest".to_owned())
}

/// Which of a group's traffic yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    #[default]
    Both,
    /// What its processes send.
    Send,
    /// What they receive.
    Receive,
}

impl Direction {
    const ALL: [Self; 3] = [Self::Both, Self::Send, Self::Receive];

    /// Yields wherever either does.
    pub fn union(self, other: Self) -> Self {
        if self == other {
            self
        } else {
            Self::Both
        }
    }

    pub fn sends(self) -> bool {
        self != Self::Receive
    }

    pub fn receives(self) -> bool {
        self != Self::Send
    }

    fn words(self) -> &'static str {
        match self {
            Self::Both => "",
            Self::Send => " send only",
            Self::Receive => " receive only",
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::Both => "",
            Self::Send => "-send",
            Self::Receive => "-receive",
        }
    }
}

/// One cgroup: a level, with or without DSCP LE on its packets, for one direction or both.
///
/// A process is in one cgroup, so each combination that it can ask for needs one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Group {
    pub level: u32,
    pub marked: bool,
    pub direction: Direction,
}

/// A level, and what differs from the usual: "2", "0 unmarked send only".
impl Display for Group {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mark = if self.marked { "" } else { " unmarked" };
        write!(f, "{}{mark}{}", self.level, self.direction.words())
    }
}

impl Group {
    pub const fn new(level: u32, marked: bool, direction: Direction) -> Self {
        Self {
            level,
            marked,
            direction,
        }
    }

    /// Every one there is, in the order that they are shown in.
    pub fn all() -> impl Iterator<Item = Self> {
        let marks = |level, direction| [true, false].map(|mark| Self::new(level, mark, direction));
        (0..=HIGHEST_LEVEL)
            .flat_map(|level| Direction::ALL.map(|direction| (level, direction)))
            .flat_map(move |(level, direction)| marks(level, direction))
    }

    /// Of its cgroup.
    pub fn name(self) -> String {
        let mark = if self.marked { "" } else { "-unmarked" };
        format!("level{}{mark}{}", self.level, self.direction.suffix())
    }

    /// What a process is whose cgroup says one thing and its own niceness another: it yields where either has it yield.
    pub fn nicer(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (Some(a), Some(b)) = (one, other) else {
            return one.or(other);
        };
        Some(Self {
            level: a.level.max(b.level),
            marked: a.marked && b.marked,
            direction: a.direction.union(b.direction),
        })
    }

    /// The level whose connections run on this congestion control; `None` for those of others.
    pub fn level_of(congestion_control: &str) -> Option<u32> {
        let of = |level: &u32| Self::new(*level, true, Direction::Both).congestion_control();
        (0..=HIGHEST_LEVEL).find(|level| of(level) == congestion_control)
    }

    /// What its connections run on, as setsockopt(TCP_CONGESTION) takes it.
    pub fn congestion_control(self) -> String {
        match self.level {
            0 => "netnice".to_owned(),
            level => format!("netnice{level}"),
        }
    }

    /// The group that a path below the cgroup root lies in, at any depth.
    pub fn of_path(path: &str) -> Option<Self> {
        let mut parts = path.split('/').skip_while(|part| *part != PARENT);
        let name = parts.nth(1)?;
        Self::all().find(|group| group.name() == name)
    }

    /// The group whose cgroup a process is in; fails when there is no such process.
    pub fn of_process(process: &Process) -> ProcResult<Option<Self>> {
        process.cgroups().map(Self::among)
    }

    fn among(groups: ProcessCGroups) -> Option<Self> {
        let of_version_2 = groups.into_iter().find(|group| group.hierarchy == 0);
        Self::of_path(&of_version_2?.pathname)
    }
}

#[cfg(test)]
mod tests {
    use procfs::FromBufRead;

    use super::*;

    #[test]
    fn groups_and_paths() {
        for group in Group::all() {
            let path = format!("/netnice/{}", group.name());
            assert_eq!(Group::of_path(&path), Some(group));
        }
        let level = |number| Some(Group::new(number, true, Direction::Both));
        assert_eq!(Group::of_path("/netnice/level0/inner"), level(0));
        assert_eq!(Group::of_path("/netnice/level2"), level(2));
        for other in ["/", "/netnice", "/netnice/other", "/user.slice/level0"] {
            assert_eq!(Group::of_path(other), None, "{other}");
        }
    }

    #[test]
    fn who_is_nice_in_two_ways_yields_in_both() {
        let sends = Group::new(2, true, Direction::Send);
        let receives = Group::new(0, false, Direction::Receive);
        let both = Some(Group::new(2, false, Direction::Both));
        assert_eq!(Group::nicer(Some(sends), Some(receives)), both);
        assert_eq!(Group::nicer(None, Some(sends)), Some(sends));
        assert_eq!(Group::nicer(None, None), None);
    }

    #[test]
    fn levels_have_numbers_and_names() {
        for (number, name) in ["low", "lower", "lowest"].into_iter().enumerate() {
            assert_eq!(level(name), level(&number.to_string()));
            assert_eq!(level(name), Ok(number as u32));
        }
        for none in ["3", "-1", "Low", "off", ""] {
            assert!(level(none).is_err(), "{none}");
        }
    }

    #[test]
    fn the_unified_hierarchy_counts() {
        let text = "4:cpu:/netnice/level0\n0::/netnice/level1\n";
        let groups = ProcessCGroups::from_buf_read(text.as_bytes()).expect("two lines");
        let level1 = Group::new(1, true, Direction::Both);
        assert_eq!(Group::among(groups), Some(level1));
    }

    #[test]
    fn every_group_once_and_level_0_first() {
        let all: Vec<_> = Group::all().collect();
        for (i, group) in all.iter().enumerate() {
            assert!(!all[..i].contains(group), "{}", group.name());
        }
        let names: Vec<_> = all.iter().take(6).map(|group| group.name()).collect();
        assert_eq!(
            names.join(" "),
            "level0 level0-unmarked level0-send level0-unmarked-send level0-receive level0-unmarked-receive"
        );
        assert_eq!(all.len(), 18);
    }

    #[test]
    fn every_level_has_an_algorithm_that_up_registers() {
        for group in Group::all() {
            let name = group.congestion_control();
            let row = crate::settings::ALGORITHMS.iter().find(|a| a.name == name);
            assert!(row.is_some_and(|a| a.shipped), "{name}");
        }
    }
}
