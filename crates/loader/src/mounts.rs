// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! /proc/self/mountinfo, as far as netnice needs it.

use std::fs;
use std::path::PathBuf;

use procfs::process::MountInfo;

use crate::{Error, Result};

const PATH: &str = "/proc/self/mountinfo";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub point: PathBuf,
    pub fs: String,
    /// Empty where it is "none".
    pub source: String,
}

/// Of this process.
pub(crate) fn read() -> Result<Vec<Mount>> {
    let text = fs::read_to_string(PATH).map_err(Error::file("read", PATH))?;
    Ok(parse(&text))
}

/// Parses the whole file; a line that is not a mount is skipped, where procfs gives up all of them.
pub fn parse(mountinfo: &str) -> Vec<Mount> {
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
        match after
            .get(..3)
            .and_then(|octal| u8::from_str_radix(octal, 8).ok())
        {
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
        let mounts = parse(text);
        assert_eq!(mounts.len(), 2);
        assert_eq!(mounts[1].fs, "cgroup2");
        assert_eq!(mounts[1].point, PathBuf::from("/sys/fs/cgroup/unified"));
    }

    #[test]
    fn a_blank_in_a_path() {
        let mounts = parse(r"24 22 0:22 / /mnt/a\040b rw - bpf net\040nice rw");
        assert_eq!(mounts[0].point, PathBuf::from("/mnt/a b"));
        assert_eq!(mounts[0].source, "net nice");
    }

    #[test]
    fn rubbish_is_skipped() {
        assert!(parse("no separator here\n\n").is_empty());
    }
}
