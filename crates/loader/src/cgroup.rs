// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The cgroups whose sockets yield: made, joined, found and emptied here.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::mounts::{self, Mount};
use crate::{Error, Result};

const PARENT: &str = "netnice";
/// The highest level there is; 0 yields least.
pub const HIGHEST_LEVEL: u32 = 2;
/// How long processes may keep forking out of a cgroup that is being emptied.
const EMPTYING: Duration = Duration::from_secs(5);

/// Which of a group's traffic yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
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

    fn suffix(self) -> &'static str {
        match self {
            Self::Both => "",
            Self::Send => "-send",
            Self::Receive => "-receive",
        }
    }
}

/// One cgroup: a level, with or without DSCP LE on its packets, for one direction or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Group {
    pub level: u32,
    pub marked: bool,
    pub direction: Direction,
}

impl Group {
    const COUNT: usize = (HIGHEST_LEVEL as usize + 1) * Self::PER_LEVEL;
    const PER_LEVEL: usize = 6;
    pub const ALL: [Group; Self::COUNT] = Self::all();

    const fn all() -> [Self; Self::COUNT] {
        let mut all = [Self::new(0, true, Direction::Both); Self::COUNT];
        let mut i = 0;
        while i < Self::COUNT {
            let direction = match i % Self::PER_LEVEL / 2 {
                0 => Direction::Both,
                1 => Direction::Send,
                _ => Direction::Receive,
            };
            all[i] = Self::new((i / Self::PER_LEVEL) as u32, i % 2 == 0, direction);
            i += 1;
        }
        all
    }

    pub const fn new(level: u32, marked: bool, direction: Direction) -> Self {
        Self {
            level,
            marked,
            direction,
        }
    }

    pub fn name(self) -> String {
        format!(
            "level{}{}{}",
            self.level,
            if self.marked { "" } else { "-unmarked" },
            self.direction.suffix()
        )
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
        let mut parts = path.split('/').skip_while(|p| *p != PARENT);
        parts.next()?;
        let name = parts.next()?.strip_prefix("level")?;
        let directions = [Direction::Send, Direction::Receive];
        let (name, direction) = directions
            .iter()
            .find_map(|d| Some((name.strip_suffix(d.suffix())?, *d)))
            .unwrap_or((name, Direction::Both));
        let (number, marked) = match name.strip_suffix("-unmarked") {
            Some(number) => (number, false),
            None => (name, true),
        };
        Some(Self::new(number.parse().ok()?, marked, direction))
    }

    /// The group this process is in; `None` in the foreground.
    pub fn current() -> Result<Option<Self>> {
        let path = "/proc/self/cgroup";
        let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
        Ok(Self::of_lines(&text))
    }

    /// The group another process is in; fails when there is no such process.
    pub fn of_process(pid: u32) -> io::Result<Option<Self>> {
        fs::read_to_string(format!("/proc/{pid}/cgroup")).map(|text| Self::of_lines(&text))
    }

    fn of_lines(text: &str) -> Option<Self> {
        text.lines()
            .find_map(|l| l.strip_prefix("0::"))
            .and_then(Self::of_path)
    }
}

/// The cgroup v2 hierarchy, wherever it is mounted.
#[derive(Debug, Clone)]
pub struct Hierarchy(PathBuf);

impl Hierarchy {
    pub fn find() -> Result<Self> {
        let path = "/proc/self/mountinfo";
        let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
        mounted(&mounts::parse(&text))
            .map(Self)
            .ok_or(Error::NoCgroup2)
    }

    pub fn dir(&self, group: Group) -> PathBuf {
        self.parent().join(group.name())
    }

    /// Where those are that no cgroup was chosen for.
    pub fn root(&self) -> &Path {
        &self.0
    }

    fn parent(&self) -> PathBuf {
        self.0.join(PARENT)
    }

    pub(crate) fn exists(&self) -> bool {
        self.parent().exists()
    }

    /// Moves this process, and with it what it will start, into the group.
    pub fn join(&self, group: Group) -> io::Result<()> {
        self.place(0, Some(group))
    }

    /// Moves a process with all its threads into the group; without one to the root of the hierarchy, which may
    /// always hold processes. 0 is the process that calls.
    pub fn place(&self, pid: u32, group: Option<Group>) -> io::Result<()> {
        let dir = group.map_or_else(|| self.0.clone(), |group| self.dir(group));
        fs::write(dir.join("cgroup.procs"), pid.to_string())
    }

    /// The id that BPF links to this cgroup carry; `None` when it does not exist.
    pub(crate) fn id(&self, group: Group) -> Option<u64> {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(self.dir(group)).ok().map(|m| m.ino())
    }

    pub(crate) fn make(&self, group: Group) -> Result<()> {
        let dir = self.dir(group);
        fs::create_dir_all(&dir).map_err(Error::file("create the cgroup", dir))
    }

    /// Processes in the group and below it.
    pub fn processes(&self, group: Group) -> Vec<u32> {
        let mut found = Vec::new();
        walk(&self.dir(group), &mut |dir| {
            found.extend(
                members(dir)
                    .unwrap_or_default()
                    .iter()
                    .filter_map(|p| p.parse::<u32>().ok()),
            );
        });
        found
    }

    /// Moves every process to the root of the hierarchy, which may always hold some, and removes the
    /// cgroups. Returns how many were moved.
    pub(crate) fn remove(&self) -> Result<usize> {
        let mut dirs = Vec::new();
        walk(&self.parent(), &mut |dir| dirs.push(dir.to_path_buf()));
        let begun = Instant::now();
        let mut moved = 0;
        for dir in dirs.iter().rev() {
            loop {
                moved += self.empty(dir)?;
                match fs::remove_dir(dir) {
                    Ok(()) => break,
                    Err(e) if e.kind() == ErrorKind::NotFound => break,
                    Err(e) if e.raw_os_error() != Some(libc::EBUSY) => {
                        return Err(Error::file("remove the cgroup", dir)(e));
                    }
                    // A process was born between the two calls.
                    Err(_) if begun.elapsed() < EMPTYING => sleep(Duration::from_millis(2)),
                    Err(_) => return Err(Error::Busy(dir.clone())),
                }
            }
        }
        Ok(moved)
    }

    fn empty(&self, dir: &Path) -> Result<usize> {
        let root = self.0.join("cgroup.procs");
        let mut moved = 0;
        for process in members(dir).unwrap_or_default() {
            match fs::write(&root, &process) {
                Ok(()) => moved += 1,
                Err(e) if e.raw_os_error() == Some(libc::ESRCH) => {}
                Err(e) => return Err(Error::file("move a process into", &root)(e)),
            }
        }
        Ok(moved)
    }
}

/// Where cgroup v2 is mounted: the usual places first, then anywhere.
pub(crate) fn mounted(mounts: &[Mount]) -> Option<PathBuf> {
    let usual = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
    let v2 = || {
        mounts
            .iter()
            .filter(|m| m.fs == "cgroup2")
            .map(|m| m.point.clone())
    };
    v2().find(|p| usual.iter().any(|u| p == Path::new(u)))
        .or_else(|| v2().next())
}

// A threaded cgroup refuses to list its members; their process is listed by the domain above it.
fn members(dir: &Path) -> io::Result<Vec<String>> {
    Ok(fs::read_to_string(dir.join("cgroup.procs"))?
        .lines()
        .map(str::to_owned)
        .collect())
}

// Parents before children.
fn walk(dir: &Path, visit: &mut impl FnMut(&Path)) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    visit(dir);
    for entry in entries
        .flatten()
        .filter(|e| e.file_type().is_ok_and(|t| t.is_dir()))
    {
        walk(&entry.path(), visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_paths() {
        for group in Group::ALL {
            assert_eq!(
                Group::of_path(&format!("/netnice/{}", group.name())),
                Some(group)
            );
        }
        assert_eq!(
            Group::of_path("/netnice/level0/inner"),
            Some(Group::new(0, true, Direction::Both))
        );
        assert_eq!(
            Group::of_path("/netnice/level2"),
            Some(Group::new(2, true, Direction::Both))
        );
        assert_eq!(Group::of_path("/"), None);
        assert_eq!(
            Group::of_lines("4:cpu:/a\n0::/netnice/level1\n"),
            Some(Group::ALL[6])
        );
        assert_eq!(Group::of_path("/netnice"), None);
        assert_eq!(Group::of_path("/netnice/other"), None);
        assert_eq!(Group::of_path("/user.slice/level0"), None);
    }

    #[test]
    fn every_group_once_and_level_0_first() {
        for (i, group) in Group::ALL.iter().enumerate() {
            assert!(!Group::ALL[..i].contains(group), "{}", group.name());
        }
        assert_eq!(Group::ALL[0].name(), "level0");
    }

    #[test]
    fn every_level_has_an_algorithm_that_up_registers() {
        for group in Group::ALL {
            let name = group.congestion_control();
            let row = crate::params::ALGORITHMS.iter().find(|a| a.name == name);
            assert!(row.is_some_and(|a| a.shipped), "{name}");
        }
    }

    #[test]
    fn the_usual_place_wins() {
        let line = |point| format!("25 24 0:23 / {point} rw - cgroup2 cgroup2 rw\n");
        let both = line("/tmp/elsewhere") + &line("/sys/fs/cgroup/unified");
        assert_eq!(
            mounted(&mounts::parse(&both)),
            Some(PathBuf::from("/sys/fs/cgroup/unified"))
        );
        assert_eq!(
            mounted(&mounts::parse(&line("/tmp/x"))),
            Some(PathBuf::from("/tmp/x"))
        );
        assert_eq!(mounted(&[]), None);
    }
}
