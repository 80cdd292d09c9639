// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Rootless containers have no network of their own on this machine. A helper, slirp4netns or pasta, sends for their
//! network namespace, by sockets of its own.

use std::fs;
use std::os::unix::fs::MetadataExt;

use procfs::process::Process;

use crate::attachments::SwitchCounts;
use crate::group::Group;
use crate::live::{switch, Target};
use crate::niceness::{self, Heirs};
use crate::senders::commands;
use crate::{Error, Result};

const HELPERS: [&str; 3] = ["slirp4netns", "pasta", "pasta.avx2"];
const OWN: &str = "/proc/self/ns/net";

/// The device and the number of its file.
type Namespace = (u64, u64);

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

/// Of the network namespace that a process is in. None if that is this program's own.
pub fn helpers_of(pid: u32) -> Vec<Helper> {
    let Some(wanted) = namespace_of(pid).filter(|wanted| namespace(OWN) != Some(*wanted)) else {
        return Vec::new();
    };
    let of = |(process, words): (Process, Vec<String>)| {
        let pid = process.pid().unsigned_abs();
        let name = words.first()?.rsplit('/').next()?;
        let helps = HELPERS.contains(&name) && serves(pid, &words, wanted) && namespace_of(pid) != Some(wanted);
        helps.then(|| Helper {
            pid,
            name: name.to_owned(),
        })
    };
    commands().filter_map(of).collect()
}

/// A helper names the namespace by a process in it or by its file, which is a path of the helper's own root.
fn serves(helper: u32, words: &[String], wanted: Namespace) -> bool {
    words.iter().skip(1).any(|word| {
        let word = word.rsplit('=').next().unwrap_or(word);
        match word.parse() {
            Ok(pid) => namespace_of(pid) == Some(wanted),
            Err(_) => word.starts_with('/') && namespace(&format!("/proc/{helper}/root{word}")) == Some(wanted),
        }
    })
}

fn namespace_of(pid: u32) -> Option<Namespace> {
    namespace(&format!("/proc/{pid}/ns/net"))
}

fn namespace(file: &str) -> Option<Namespace> {
    let found = fs::metadata(file).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_is_a_file_or_a_process() {
        let (me, own) = (std::process::id(), namespace(OWN).expect("a namespace"));
        let is = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            serves(me, &words, own)
        };
        assert!(is(&format!("slirp4netns --mtu=65520 -c {me} tap0")));
        assert!(is(&format!("pasta --config-net --netns /proc/{me}/ns/net")));
        assert!(is(&format!("pasta --netns=/proc/{me}/ns/net")));
        assert!(!is("slirp4netns --mtu=65520 -c tap0"));
    }

    #[test]
    fn a_process_of_this_network_has_none() {
        assert_eq!(helpers_of(std::process::id()), []);
    }
}
