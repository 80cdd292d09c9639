// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The file system that pins live in. Mounted by up where it is missing, and then unmounted by down:
//! the mount's source name says that netnice did it.

use std::fs;
use std::path::{Path, PathBuf};

use procfs::process::MountInfo;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};

use crate::{Error, Result};

const POINT: &str = "/sys/fs/bpf";
/// The kernel puts these into every bpf file system itself.
const PRELOADED: [&str; 2] = ["maps.debug", "progs.debug"];
/// What mountinfo shows as the source when netnice mounted it.
const OURS: &str = "netnice";

pub fn point() -> PathBuf {
    PathBuf::from(POINT)
}

/// The mount visible at /sys/fs/bpf, if there is one.
pub(crate) fn mounted(mounts: &[Mount]) -> Option<&Mount> {
    mounts
        .iter()
        .rev()
        .find(|m| m.point == Path::new(POINT))
        .filter(|m| m.fs == "bpf")
}

pub(crate) fn mount() -> Result<()> {
    if mounted(&mount_table()?).is_some() {
        return Ok(());
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount(OURS, POINT, "bpf", flags, c"mode=0700")
        .map_err(|why| Error::file("mount a bpf file system on", POINT)(why.into()))
}

/// Unmounts if netnice mounted it and no other program has pinned anything since. Says whether it did.
pub(crate) fn unmount() -> Result<bool> {
    let ours = mounted(&mount_table()?).is_some_and(|m| m.source == OURS);
    if !ours || !is_empty() {
        return Ok(false);
    }
    match rustix::mount::unmount(POINT, UnmountFlags::empty()) {
        Ok(()) => Ok(true),
        // A process stands in it: the empty mount does no harm, and the next down tries again.
        Err(Errno::BUSY) => Ok(false),
        Err(why) => Err(Error::file("unmount", POINT)(why.into())),
    }
}

fn is_empty() -> bool {
    let strange = |entry: std::fs::DirEntry| PRELOADED.iter().all(|p| entry.file_name() != *p);
    std::fs::read_dir(POINT).is_ok_and(|mut dir| !dir.any(|e| e.is_ok_and(strange)))
}

const PATH: &str = "/proc/self/mountinfo";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub point: PathBuf,
    pub fs: String,
    /// Empty where it is "none".
    pub source: String,
}

/// Of this process.
pub(crate) fn mount_table() -> Result<Vec<Mount>> {
    let text = fs::read_to_string(PATH).map_err(Error::file("read", PATH))?;
    Ok(parse_mounts(&text))
}

/// Parses the whole file; a line that is not a mount is skipped, where procfs gives up all of them.
pub fn parse_mounts(mountinfo: &str) -> Vec<Mount> {
    mountinfo.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Mount> {
    let mount = MountInfo::from_line(line).ok()?;
    Some(Mount {
        point: unescape(mount.mount_point.to_str()?).into(),
        fs: mount.fs_type,
        source: unescape(&mount.mount_source.unwrap_or_default()),
    })
}

// The kernel writes blanks in paths as \040 and the like; procfs leaves them so.
fn unescape(field: &str) -> String {
    let mut out = String::with_capacity(field.len());
    let mut rest = field;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        match after.get(..3).and_then(|octal| u8::from_str_radix(octal, 8).ok()) {
            Some(byte) => {
                out.push(char::from(byte));
                rest = &after[3..];
            }
            None => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hybrid_machine() {
        let text = "24 22 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
                25 24 0:23 / /sys/fs/cgroup/unified rw shared:4 - cgroup2 none rw\n";
        let mounts = parse_mounts(text);
        assert_eq!(mounts.len(), 2);
        assert_eq!(mounts[1].fs, "cgroup2");
        assert_eq!(mounts[1].point, PathBuf::from("/sys/fs/cgroup/unified"));
    }

    #[test]
    fn a_blank_in_a_path() {
        let mounts = parse_mounts(r"24 22 0:22 / /mnt/a\040b rw - bpf net\040nice rw");
        assert_eq!(mounts[0].point, PathBuf::from("/mnt/a b"));
        assert_eq!(mounts[0].source, "net nice");
    }

    #[test]
    fn rubbish_is_skipped() {
        assert!(parse_mounts("no separator here\n\n").is_empty());
    }
}
