// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Programs that are the network of a rootless container: connections of the container are on sockets of the program.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::processes::commands;

const HELPERS: [&str; 3] = ["slirp4netns", "pasta", "pasta.avx2"];

/// Those of the network namespace of a process.
pub(super) fn helpers(pid: u32) -> Vec<u32> {
    let Some(theirs) = network(&format!("/proc/{pid}/ns/net")) else {
        return Vec::new();
    };
    if network("/proc/self/ns/net") == Some(theirs) {
        return Vec::new();
    }
    let serves = |helper: i32, words: &[String]| {
        let places = words.iter().flat_map(|word| places(helper, word));
        places.into_iter().any(|place| network(&place) == Some(theirs))
    };
    commands()
        .filter(|(_, words)| is_helper(words))
        .filter(|(process, words)| serves(process.pid(), words))
        .map(|(process, _)| process.pid().unsigned_abs())
        .collect()
}

/// Which network namespace a file stands for.
fn network(place: &str) -> Option<(u64, u64)> {
    let found = fs::metadata(place).ok()?;
    Some((found.dev(), found.ino()))
}

fn is_helper(words: &[String]) -> bool {
    let name = words.first().and_then(|word| word.rsplit('/').next());
    name.is_some_and(|name| HELPERS.contains(&name))
}

/// Where a namespace may be that a word names: by the number of a process in it, or by its path.
fn places(helper: i32, word: &str) -> Option<String> {
    let word = word.rsplit('=').next()?;
    match word.parse::<u32>() {
        Ok(pid) => Some(format!("/proc/{pid}/ns/net")),
        Err(_) if word.starts_with('/') => Some(format!("/proc/{helper}/root{word}")),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn helpers_by_their_words() {
        assert!(is_helper(&words("/usr/bin/slirp4netns -c 4711 tap0")));
        assert!(is_helper(&words("pasta --config-net 4711")));
        assert!(!is_helper(&words("sh slirp4netns")));
    }

    #[test]
    fn namespaces_by_number_and_by_path() {
        assert_eq!(places(7, "4711").as_deref(), Some("/proc/4711/ns/net"));
        assert_eq!(places(7, "/run/netns/a").as_deref(), Some("/proc/7/root/run/netns/a"));
        assert_eq!(places(7, "--netns=/run/a").as_deref(), Some("/proc/7/root/run/a"));
        assert_eq!(places(7, "tap0"), None);
    }

    #[test]
    fn a_process_of_this_network_has_none() {
        assert!(helpers(std::process::id()).is_empty());
    }
}
