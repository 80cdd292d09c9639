// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The file system that pins live in. Mounted by up where it is missing, and then unmounted by down:
//! the mount's source name remembers who did it.

use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};

use crate::mounts::{self, Mount};
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
    if mounted(&mounts::read()?).is_some() {
        return Ok(());
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount(OURS, POINT, "bpf", flags, c"mode=0700")
        .map_err(|why| Error::file("mount a bpf file system on", POINT)(why.into()))
}

/// Unmounts if netnice mounted it and nobody else has pinned anything since. Says whether it did.
pub(crate) fn unmount() -> Result<bool> {
    let ours = mounted(&mounts::read()?).is_some_and(|m| m.source == OURS);
    if !ours || !is_empty() {
        return Ok(false);
    }
    match rustix::mount::unmount(POINT, UnmountFlags::empty()) {
        Ok(()) => Ok(true),
        // Somebody stands in it: the empty mount harms nobody, and the next down tries again.
        Err(Errno::BUSY) => Ok(false),
        Err(why) => Err(Error::file("unmount", POINT)(why.into())),
    }
}

fn is_empty() -> bool {
    let strange = |entry: std::fs::DirEntry| PRELOADED.iter().all(|p| entry.file_name() != *p);
    std::fs::read_dir(POINT).is_ok_and(|mut dir| !dir.any(|e| e.is_ok_and(strange)))
}
