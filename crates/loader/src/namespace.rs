// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The network namespaces of processes.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};

/// The device and the number of a namespace's file.
pub(crate) type Namespace = (u64, u64);

/// That of this thread; `None`: /proc is not there.
pub(crate) fn own() -> Option<Namespace> {
    of_file(HERE)
}

/// That of a process; `None`: it has ended, or that is not told.
pub(crate) fn of(pid: u32) -> Option<Namespace> {
    of_file(&there(pid))
}

/// That of such a file, under whatever name.
pub(crate) fn of_file(path: &str) -> Option<Namespace> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Is a process in another network namespace? `None`: that is not told.
pub(crate) fn is_other(pid: u32) -> Option<bool> {
    Some(own()? != of(pid)?)
}

const HERE: &str = "/proc/thread-self/ns/net";

fn there(pid: u32) -> String {
    format!("/proc/{pid}/ns/net")
}

/// With this thread in the network namespace of a process; procfs knows no descriptors of namespaces.
pub(crate) fn inside<T>(pid: u32, what: impl FnOnce() -> T) -> io::Result<T> {
    if is_other(pid) == Some(false) {
        return Ok(what());
    }
    let (here, there) = (File::open(HERE)?, File::open(there(pid))?);
    enter(&there)?;
    let done = what();
    enter(&here)?;
    Ok(done)
}

// Of this thread alone.
fn enter(namespace: &File) -> io::Result<()> {
    let network = Some(LinkNameSpaceType::Network);
    Ok(move_into_link_name_space(namespace.as_fd(), network)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_its_own() {
        let me = std::process::id();
        assert_eq!(is_other(me), Some(false));
        assert_eq!(inside(me, || 7).expect("no rights are needed"), 7);
        assert_eq!(is_other(i32::MAX as u32), None);
    }
}
