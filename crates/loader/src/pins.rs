// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Where the kernel objects are pinned, and how pins are taken away again.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libbpf_rs::{Link, MapHandle};

use crate::{bpffs, facts, Error, Result};

/// How long the kernel may take to let go of a name whose last link is gone.
const RELEASE: Duration = Duration::from_secs(5);

pub fn root() -> PathBuf {
    bpffs::point().join("netnice")
}

pub fn links() -> PathBuf {
    root().join("links")
}

pub fn maps() -> PathBuf {
    root().join("maps")
}

pub fn sender_link(cc: &str) -> PathBuf {
    links().join(format!("sender-{cc}"))
}

pub fn policy_link(cgroup: &str) -> PathBuf {
    links().join(format!("policy-{cgroup}"))
}

/// A function for each pinned map, by the name of its file.
macro_rules! maps {
    ($($(#[$about:meta])* $name:ident: $file:literal,)*) => {
        $($(#[$about])* pub fn $name() -> PathBuf {
            maps().join($file)
        })*
    };
}

maps! {
    params: "params",
    /// The choices and counters of every cgroup that sends.
    groups: "groups",
    /// Sockets for which their cgroup no longer speaks.
    moved: "moved",
    /// What sockets had before they came to a level.
    before: "before",
    receiver_params: "receiver-params",
    receiver_counters: "receiver-counters",
    receiver_connections: "receiver-connections",
    /// The niceness of processes, by their number in the first namespace.
    processes: "processes",
    /// What of their niceness ends, and when.
    timed: "timed",
    /// Rates that connections have together at least.
    floors: "floors",
    /// Which of them a socket has.
    floor_of: "floor-of",
    /// Which of them a process has.
    floored: "floored",
    /// The niceness of cgroups, by id.
    attached: "attached",
    /// Which cgroups and programs are in the background from when they begin.
    rules: "rules",
    niceness_choices: "niceness-choices",
    niceness_counters: "niceness-counters",
    quic_counters: "quic-counters",
    /// What asked a socket to yield with its incoming traffic, by socket.
    receiver_wishes: "receiver-wishes",
    /// Connections that yield by such a wish.
    receiver_adopted: "receiver-adopted",
    /// Pinned last and removed first: while it exists, everything else does.
    state: "state",
}

pub fn receiver_link(cgroup: &str, program: &str) -> PathBuf {
    links().join(format!("receiver-{program}-{cgroup}"))
}

pub fn niceness_link(program: &str) -> PathBuf {
    links().join(format!("niceness-{program}"))
}

/// Of the programs that refuse QUIC; on the root of the cgroups.
pub fn quic_link(program: &str) -> PathBuf {
    links().join(program)
}

/// Of the programs that adopted sockets need; on the root of the cgroups.
pub fn adopted_link(program: &str) -> PathBuf {
    receiver_link("root", program)
}

/// A pinned map; `None` where there is none, or it may not be opened. libbpf-rs panics on a path it cannot turn into a map.
pub(crate) fn map(pin: &Path) -> Option<MapHandle> {
    pin.exists().then(|| MapHandle::from_pinned_path(pin).ok()).flatten()
}

pub(crate) fn make() -> Result<()> {
    for dir in [links(), maps()] {
        fs::create_dir_all(&dir).map_err(Error::file("create", &dir))?;
    }
    Ok(())
}

/// Detaches and unpins every link, or those whose names begin so. Sockets that run on a congestion control keep it.
pub(crate) fn remove_links(which: Option<[&str; 2]>) -> Result<()> {
    let mut released = Vec::new();
    let wanted = |path: &PathBuf| which.is_none_or(|begin| begin.iter().any(|begin| name(path).starts_with(begin)));
    for path in entries(&links())?.into_iter().filter(wanted) {
        if let Some(cc) = name(&path).strip_prefix("sender-") {
            released.push(cc.to_owned());
        }
        remove_link(&path)?;
    }
    let begun = Instant::now();
    while facts::congestion_controls()?.iter().any(|cc| released.contains(cc)) && begun.elapsed() < RELEASE {
        sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Detaching takes effect at once, where the kernel can; unpinning alone does so a little later.
pub(crate) fn remove_link(path: &Path) -> Result<()> {
    if path.exists() {
        let _ = Link::open(path).map(|link| link.detach());
    }
    remove_file(path)
}

/// Removes what is left: maps and directories.
pub(crate) fn remove_rest() -> Result<()> {
    for dir in [links(), maps()] {
        for path in entries(&dir)? {
            remove_file(&path)?;
        }
        remove_dir(&dir)?;
    }
    remove_dir(&root())
}

pub(crate) fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::file("unpin", path)(e)),
        _ => Ok(()),
    }
}

fn remove_dir(path: &Path) -> Result<()> {
    match fs::remove_dir(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::file("remove", path)(e)),
        _ => Ok(()),
    }
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(list) => Ok(list.flatten().map(|e| e.path()).collect()),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(Error::file("read", dir)(e)),
    }
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|n| n.to_str()).unwrap_or_default()
}
