// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Files of a process that are at the other end of a network: mounts by FUSE, NFS or SMB.

use std::path::{Path, PathBuf};

use procfs::process::{FDTarget, MountInfo, Process};

use super::processes::commands;
use super::way::Way;

/// The kernel's own.
const KERNEL: [&str; 6] = ["nfs", "nfs4", "cifs", "smb3", "ceph", "afs"];
/// Mounts by FUSE that are of this machine.
const LOCAL: [&str; 5] = [
    "fuse.gvfsd-fuse",
    "fuse.portal",
    "fuse.lxcfs",
    "fuse.ntfs",
    "fuse.fuse-overlayfs",
];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub kind: String,
    at: PathBuf,
}

impl Mount {
    fn of(info: &MountInfo) -> Option<Self> {
        let kind = info.fs_type.as_str();
        let is_fuse = kind.starts_with("fuse") && kind != "fusectl" && !LOCAL.contains(&kind);
        (is_fuse || KERNEL.contains(&kind)).then(|| Self {
            kind: kind.to_owned(),
            at: info.mount_point.clone(),
        })
    }

    fn is_kernels(&self) -> bool {
        KERNEL.contains(&self.kind.as_str())
    }

    pub(super) fn way(&self) -> Way {
        match self.is_kernels() {
            true => Way::KernelMount(self.at.clone()),
            false => Way::Fuse(self.at.clone()),
        }
    }

    /// The process that serves it: its kind or its place is among the words that it was started with.
    pub(super) fn server(&self) -> Option<u32> {
        if self.is_kernels() {
            return None;
        }
        let mut servers = commands().filter(|(process, _)| has_fuse(process));
        let named = servers.find(|(_, words)| self.is_served_by(words))?;
        Some(named.0.pid().unsigned_abs())
    }

    fn is_served_by(&self, words: &[String]) -> bool {
        words.iter().any(|word| Path::new(word) == self.at)
    }
}

fn has_fuse(process: &Process) -> bool {
    let open = process.fd().into_iter().flatten().flatten();
    open.into_iter()
        .any(|fd| matches!(fd.target, FDTarget::Path(path) if path == Path::new("/dev/fuse")))
}

/// Those that the process has files or its working folder on.
pub(super) fn remote(pid: u32) -> Vec<Mount> {
    let process = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok());
    let Some(process) = process else {
        return Vec::new();
    };
    let all: Vec<MountInfo> = process.mountinfo().into_iter().flatten().collect();
    if !all.iter().any(|info| Mount::of(info).is_some()) {
        return Vec::new();
    }
    let open = process.fd().into_iter().flatten().flatten();
    let files = open.filter_map(|fd| match fd.target {
        FDTarget::Path(path) => Some(path),
        _ => None,
    });
    let mut found = Vec::new();
    for file in files.chain(process.cwd()) {
        let below = all.iter().filter(|info| file.starts_with(&info.mount_point));
        let innermost = below.max_by_key(|info| info.mount_point.as_os_str().len());
        found.extend(innermost.and_then(Mount::of).filter(|mount| !found.contains(mount)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(line: &str) -> Option<Mount> {
        Mount::of(&MountInfo::from_line(line).expect("a line of mountinfo"))
    }

    #[test]
    fn mounts_that_send() {
        let sshfs = mount("36 35 98:0 / /mnt/far rw - fuse.sshfs host:/srv rw").expect("it sends");
        assert_eq!(sshfs.way(), Way::Fuse("/mnt/far".into()));
        assert!(sshfs.is_served_by(&["sshfs".into(), "host:/srv".into(), "/mnt/far".into()]));
        assert!(!sshfs.is_served_by(&["sshfs".into(), "host:/srv".into(), "/mnt".into()]));
        let nfs = mount("36 35 0:40 / /home rw - nfs4 server:/home rw").expect("it sends");
        assert_eq!(nfs.way(), Way::KernelMount("/home".into()));
        assert_eq!(nfs.server(), None);
        for local in ["ext4 /dev/sda1", "fusectl none", "fuse.lxcfs lxcfs", "tmpfs tmpfs"] {
            assert_eq!(mount(&format!("36 35 0:40 / /x rw - {local} rw")), None, "{local}");
        }
    }
}
