// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! /proc/self/mountinfo, as far as netnice needs it.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub point: PathBuf,
    pub fs: String,
    pub source: String,
}

/// Parses the whole file; a line that is not a mount is skipped.
pub fn parse(mountinfo: &str) -> Vec<Mount> {
    mountinfo.lines().filter_map(parse_line).collect()
}

// id parent major:minor root POINT options [tags…] - FS SOURCE superoptions
fn parse_line(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let point = left.split(' ').nth(4)?;
    let mut right = right.split(' ');
    Some(Mount {
        point: PathBuf::from(unescape(point)),
        fs: right.next()?.to_owned(),
        source: unescape(right.next()?),
    })
}

// The kernel writes blanks in paths as \040 and the like.
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
                    25 24 0:23 / /sys/fs/cgroup/unified rw shared:4 - cgroup2 cgroup2 rw\n";
        let mounts = parse(text);
        assert_eq!(mounts.len(), 2);
        assert_eq!(mounts[1].fs, "cgroup2");
        assert_eq!(mounts[1].point, PathBuf::from("/sys/fs/cgroup/unified"));
    }

    #[test]
    fn a_blank_in_a_path() {
        let text = r"24 22 0:22 / /mnt/a\040b rw - bpf net\040nice rw";
        let mounts = parse(text);
        assert_eq!(mounts[0].point, PathBuf::from("/mnt/a b"));
        assert_eq!(mounts[0].source, "net nice");
    }

    #[test]
    fn rubbish_is_skipped() {
        assert!(parse("no separator here\n\n").is_empty());
    }
}
