// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Names of cgroups and units as people write them, and as the kernel compares them.

use std::path::Path;

use crate::cgroup::USUAL;

/// Types of units that have a cgroup, and so processes.
const WITH_CGROUP: [&str; 6] = [".service", ".scope", ".slice", ".socket", ".mount", ".swap"];
/// Types that have none: what they start has.
const WITHOUT_CGROUP: [&str; 5] = [".timer", ".target", ".path", ".device", ".automount"];

/// A cgroup's path from the root of the hierarchy on. It may be written with its mount point, as 'attach' takes it: that
/// of this machine, or a usual one. Empty: the root itself.
pub(super) fn below_mount<'a>(written: &'a str, root: &Path) -> &'a str {
    let points = root.to_str().into_iter().chain(USUAL);
    let below = |point: &str| written.strip_prefix(point.trim_end_matches('/'));
    let mut inside = points
        .filter_map(below)
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    inside.next().unwrap_or(written).trim_end_matches('/')
}

/// That no unit of systemd with processes has such a name, and which one may be meant.
pub(super) fn unit_warning(pattern: &str) -> Option<String> {
    if pattern.ends_with('*') || WITH_CGROUP.iter().any(|end| pattern.ends_with(end)) {
        return None;
    }
    match WITHOUT_CGROUP
        .iter()
        .find_map(|end| Some((pattern.strip_suffix(end)?, end)))
    {
        Some((bare, end)) => Some(format!(
            "a unit that ends in {end} has no processes: is '{bare}.service' meant?"
        )),
        None => Some(format!(
            "no unit of systemd has such a name: is '{pattern}.service' meant?"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_is_no_part_of_the_path() {
        let (unified, usual) = ("/sys/fs/cgroup/unified", "/sys/fs/cgroup");
        for (written, root, below) in [
            ("/a.slice/b", usual, "/a.slice/b"),
            ("/sys/fs/cgroup/a.slice/*", usual, "/a.slice/*"),
            ("/sys/fs/cgroup/unified/x", unified, "/x"),
            ("/sys/fs/cgroup/x/", unified, "/x"),
            ("/sys/fs/cgroup/unified/x", usual, "/unified/x"),
            ("/mnt/groups/x", "/mnt/groups", "/x"),
            ("/mnt/groups/x", usual, "/mnt/groups/x"),
            ("/sys/fs/cgroups/x", usual, "/sys/fs/cgroups/x"),
            ("/sys/fs/cgroup", usual, ""),
            ("/sys/fs/cgroup/unified/", unified, ""),
            ("/", usual, ""),
        ] {
            assert_eq!(below_mount(written, Path::new(root)), below, "{written} at {root}");
        }
    }

    #[test]
    fn a_unit_without_a_type_is_warned_of() {
        for (pattern, meant) in [
            ("backup", "'backup.service'"),
            ("*-backup", "'*-backup.service'"),
            ("backup.timer", "'backup.service'"),
            ("backup.old", "'backup.old.service'"),
        ] {
            let said = unit_warning(pattern).unwrap_or_default();
            assert!(said.contains(meant), "{pattern}: {said}");
        }
        for pattern in ["backup.service", "restic*", "restic*.service", "docker-3f.scope", "*"] {
            assert_eq!(unit_warning(pattern), None, "{pattern}");
        }
    }
}
