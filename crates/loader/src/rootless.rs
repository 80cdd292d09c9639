// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Rootless containers have no network of their own on this machine. A helper, slirp4netns or pasta, sends for their
//! network namespace, by sockets of its own.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use procfs::process::{all_processes, Process};

use crate::attachments::SwitchCounts;
use crate::group::Group;
use crate::live::{switch, Target};
use crate::niceness::{self, Heirs};
use crate::{Error, Result};

const HELPERS: [&str; 3] = ["slirp4netns", "pasta", "pasta.avx2"];

/// What sends for a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper {
    pub pid: u32,
    pub name: String,
}

impl Helper {
    /// The helper, with the connections that it has, becomes as nice, or returns to the foreground.
    pub fn put(&self, to: Option<Group>) -> Result<SwitchCounts> {
        niceness::set(self.pid, to, Heirs::All).map_err(|why| Error::Helper(self.pid, why.to_string()))?;
        Ok(SwitchCounts::of(self.pid, switch(self.pid, &Target::of(to))))
    }
}

/// Of the network namespace that a process is in; `None`: it has none.
pub fn helper_of(pid: u32) -> Option<Helper> {
    let wanted = namespace_of(&format!("/proc/{pid}/ns/net"))?;
    let all = all_processes().ok()?.flatten();
    all.filter_map(|process| {
        let name = process.stat().ok()?.comm;
        let words = process.cmdline().ok()?;
        let serves = HELPERS.contains(&name.as_str()) && serves(&words, wanted) && !is_inside(&process, wanted);
        serves.then(|| Helper {
            pid: process.pid().unsigned_abs(),
            name,
        })
    })
    .next()
}

/// A helper names the namespace by its file or by a process in it.
fn serves(words: &[String], wanted: u64) -> bool {
    words.iter().skip(1).any(|word| {
        let file = match word.parse::<u32>() {
            Ok(pid) => format!("/proc/{pid}/ns/net"),
            Err(_) => word.clone(),
        };
        Path::new(&file).is_absolute() && namespace_of(&file) == Some(wanted)
    })
}

fn is_inside(process: &Process, wanted: u64) -> bool {
    namespace_of(&format!("/proc/{}/ns/net", process.pid())) == Some(wanted)
}

fn namespace_of(file: &str) -> Option<u64> {
    fs::metadata(file).ok().map(|found| found.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_is_a_file_or_a_process() {
        let own = namespace_of("/proc/self/ns/net").expect("a namespace");
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let me = std::process::id().to_string();
        assert!(serves(&words(&["slirp4netns", "--mtu=65520", "-c", &me, "tap0"]), own));
        assert!(serves(
            &words(&["pasta", "--config-net", "--netns", "/proc/self/ns/net"]),
            own
        ));
        assert!(!serves(&words(&["slirp4netns", "--mtu=65520", "-c", "tap0"]), own));
        assert_eq!(helper_of(std::process::id()), None);
    }
}
