// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The cgroups whose sockets yield: made, joined, found and emptied here.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use procfs::process::Process;
use rustix::fs::{openat2, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::bpffs::{self, Mount};
use crate::group::{Group, PARENT};
use crate::{Error, Result};

/// How long processes may keep forking out of a cgroup that is being emptied.
const EMPTYING: Duration = Duration::from_secs(5);

/// The cgroup v2 hierarchy, wherever it is mounted.
#[derive(Debug, Clone)]
pub struct Hierarchy(PathBuf);

impl Hierarchy {
    pub fn find() -> Result<Self> {
        mounted(&bpffs::mount_table()?).map(Self).ok_or(Error::NoCgroup2)
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
        self.members_of(&self.dir(group))
    }

    /// Processes in a cgroup and below it.
    pub fn members_of(&self, cgroup: &Path) -> Vec<u32> {
        let mut found = Vec::new();
        walk(cgroup, &mut |dir| {
            found.extend(
                members(dir)
                    .unwrap_or_default()
                    .iter()
                    .filter_map(|p| p.parse::<u32>().ok()),
            );
        });
        found
    }

    /// The cgroup that a process is in; `None` when it has ended, or is outside of this process's cgroup namespace.
    pub fn cgroup_of(&self, pid: u32) -> Option<PathBuf> {
        let process = Process::new(i32::try_from(pid).ok()?).ok()?;
        let groups = process.cgroups().ok()?;
        let own = groups.into_iter().find(|group| group.hierarchy == 0)?;
        let below = Path::new(own.pathname.trim_start_matches('/'));
        let plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        plain.then(|| self.0.join(below))
    }

    /// Every cgroup below the root.
    pub(crate) fn cgroups(&self) -> impl Iterator<Item = PathBuf> {
        let mut found = Vec::new();
        walk(&self.0, &mut |dir| found.push(dir.to_path_buf()));
        found.into_iter().skip(1)
    }

    pub fn below_root(&self, cgroup: &Path) -> PathBuf {
        cgroup.strip_prefix(&self.0).unwrap_or(cgroup).to_path_buf()
    }

    /// One of those that netnice makes, or what holds them.
    pub(crate) fn is_ours(&self, cgroup: &Path) -> bool {
        cgroup.starts_with(self.parent())
    }

    /// 1: just below the root.
    pub(crate) fn depth(&self, cgroup: &Path) -> usize {
        self.below_root(cgroup).components().count()
    }

    /// The cgroup of a name. The name is a path of the file system, a path below the root, or the last part of one, as a
    /// unit's name is. Its path is canonical and below the root, by no mount point in between.
    ///
    /// # Errors
    /// No cgroup or several have the name. It is the root or netnice's own: [`Error::NotAttachable`]. The path leads out of
    /// the hierarchy: [`Error::OutsideHierarchy`].
    pub fn named(&self, name: &str) -> Result<PathBuf> {
        let absolute = Path::new(name).is_absolute().then(|| PathBuf::from(name));
        let below = self.0.join(name.trim_start_matches('/'));
        let paths = absolute.into_iter().chain(name.contains('/').then_some(below));
        let mut outside = None;
        for path in paths.filter(|path| path.is_dir()) {
            match self.inside(&path)? {
                Some(cgroup) => return self.attachable(cgroup),
                None => outside = Some(path),
            }
        }
        if let Some(path) = outside {
            return Err(Error::OutsideHierarchy(path, self.0.clone()));
        }
        match Path::new(name).components().next_back() {
            Some(Component::Normal(_)) => self.attachable(self.with_last_part(name)?),
            _ => Err(Error::NoCgroup(name.to_owned(), self.0.clone())),
        }
    }

    fn attachable(&self, cgroup: PathBuf) -> Result<PathBuf> {
        if cgroup == self.0 || self.is_ours(&cgroup) {
            return Err(Error::NotAttachable(cgroup));
        }
        Ok(cgroup)
    }

    /// The path of a folder without links and `..`; `None`: not in this hierarchy, or behind another mount.
    fn inside(&self, path: &Path) -> Result<Option<PathBuf>> {
        let canonical = |path: &Path| fs::canonicalize(path).map_err(Error::file("look at", path));
        let (path, root) = (canonical(path)?, canonical(&self.0)?);
        let Ok(below) = path.strip_prefix(&root) else {
            return Ok(None);
        };
        if below.as_os_str().is_empty() {
            return Ok(Some(self.0.clone()));
        }
        let top = File::open(&self.0).map_err(Error::file("open", &self.0))?;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS;
        match openat2(&top, below, OFlags::PATH | OFlags::DIRECTORY, Mode::empty(), within) {
            Ok(_) => Ok(Some(self.0.join(below))),
            Err(Errno::XDEV) => Ok(None),
            Err(why) => Err(Error::file("open the cgroup", path)(why.into())),
        }
    }

    fn with_last_part(&self, name: &str) -> Result<PathBuf> {
        let mut found: Vec<_> = self.cgroups().filter(|dir| dir.ends_with(name)).collect();
        match found.len() {
            0 => Err(Error::NoCgroup(name.to_owned(), self.0.clone())),
            1 => Ok(found.remove(0)),
            _ => {
                let lines = found
                    .iter()
                    .map(|dir| format!("\n  {}", self.below_root(dir).display()));
                Err(Error::SeveralCgroups(name.to_owned(), lines.collect()))
            }
        }
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
                    Err(e) if e.kind() != ErrorKind::ResourceBusy => {
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
                Err(e) if Errno::from_io_error(&e) == Some(Errno::SRCH) => {}
                Err(e) => return Err(Error::file("move a process into", &root)(e)),
            }
        }
        Ok(moved)
    }
}

/// Where cgroup v2 is mounted, but on few machines.
pub(crate) const USUAL: [&str; 2] = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];

/// Where cgroup v2 is mounted: the usual places first, then anywhere.
pub(crate) fn mounted(mounts: &[Mount]) -> Option<PathBuf> {
    let v2 = || mounts.iter().filter(|m| m.fs == "cgroup2").map(|m| m.point.clone());
    v2().find(|p| USUAL.iter().any(|u| p == Path::new(u)))
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
    for entry in entries.flatten().filter(|e| e.file_type().is_ok_and(|t| t.is_dir())) {
        walk(&entry.path(), visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_place_wins() {
        let line = |point| format!("25 24 0:23 / {point} rw - cgroup2 cgroup2 rw\n");
        let both = line("/tmp/elsewhere") + &line("/sys/fs/cgroup/unified");
        assert_eq!(
            mounted(&bpffs::parse_mounts(&both)),
            Some(PathBuf::from("/sys/fs/cgroup/unified"))
        );
        assert_eq!(
            mounted(&bpffs::parse_mounts(&line("/tmp/x"))),
            Some(PathBuf::from("/tmp/x"))
        );
        assert_eq!(mounted(&[]), None);
    }
}
