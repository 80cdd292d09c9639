// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Containers by the names that their engines know them by: `docker:web`, `podman:web`, `containerd:ID`. docker and
//! podman are asked by their command, containerd's are found by the names of cgroups.
//!
//! Rootless containers have no network of their own on this machine. A helper, slirp4netns or pasta, sends for their
//! network namespace, by sockets of its own.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use procfs::process::Process;
use serde_json::Value;

use crate::attachments::SwitchCounts;
use crate::cgroup::Hierarchy;
use crate::group::Group;
use crate::live::{switch, Target};
use crate::namespace::{self, Namespace};
use crate::niceness::{self, Heirs};
use crate::senders::commands;
use crate::{Error, Result};

/// An id is a container's from so many digits on.
const PREFIX: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Docker,
    Podman,
    Containerd,
}

impl Engine {
    const ALL: [Self; 3] = [Self::Docker, Self::Podman, Self::Containerd];

    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Containerd => "containerd",
        }
    }

    /// `docker:web`; `None`: that begins with no engine.
    pub fn split(text: &str) -> Option<(Self, &str)> {
        let (engine, name) = text.split_once(':')?;
        Self::ALL
            .into_iter()
            .find(|one| one.name() == engine)
            .map(|one| (one, name))
    }

    /// Engines that know containers by name and label, as far as they are installed.
    pub fn installed() -> impl Iterator<Item = Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let there = move |engine: &Self| folders.iter().any(|folder| folder.join(engine.name()).is_file());
        [Self::Docker, Self::Podman].into_iter().filter(there)
    }

    /// Ids of its containers with this label, `KEY` or `KEY=VALUE`, that run and that do not.
    pub fn labelled(self, label: &str) -> Result<Vec<String>> {
        let filter = format!("label={label}");
        let said = self.run(&["ps", "--all", "--quiet", "--no-trunc", "--filter", &filter])?;
        Ok(said.split_whitespace().map(str::to_owned).collect())
    }

    fn run(self, words: &[&str]) -> Result<String> {
        let program = self.name();
        let done = Command::new(program)
            .args(words)
            .output()
            .map_err(|why| match why.kind() {
                ErrorKind::NotFound => Error::NoEngine(program),
                _ => Error::Engine(program, why.to_string()),
            })?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            let line = said.lines().find(|line| !line.is_empty()).unwrap_or("it says nothing");
            return Err(Error::Engine(program, line.to_owned()));
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }
}

/// A container that docker or podman knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    pub engine: Engine,
    /// As it was asked for.
    pub name: String,
    pub id: String,
    /// Of its first process; `None`: it does not run.
    pub pid: Option<u32>,
}

impl Container {
    /// The engine is not installed or not there, or knows none of this name.
    pub fn named(engine: Engine, name: &str) -> Result<Self> {
        let said = engine.run(&["inspect", "--type", "container", name])?;
        let unread = || Error::Engine(engine.name(), "its answer is no list of containers".to_owned());
        let all: Value = serde_json::from_str(&said).map_err(|_| unread())?;
        let one = &all[0];
        let id = one["Id"].as_str().ok_or_else(unread)?;
        let pid = one["State"]["Pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        Ok(Self {
            engine,
            name: name.to_owned(),
            id: id.to_owned(),
            pid: pid.filter(|pid| *pid > 0),
        })
    }

    /// That of the container: what its first process is in, or what is named after its id above that.
    pub fn cgroup(&self, hierarchy: &Hierarchy) -> Result<PathBuf> {
        let stopped = || Error::NotRunning(self.engine.name(), self.name.clone());
        let of_process = hierarchy.cgroup_of(self.pid.ok_or_else(stopped)?).ok_or_else(stopped)?;
        let named = |dir: &&Path| {
            dir.file_name()
                .is_some_and(|name| name.to_string_lossy().contains(&self.id))
        };
        let own = of_process.ancestors().find(named);
        match own {
            Some(cgroup) => Ok(cgroup.to_owned()),
            // An engine that is configured without cgroups leaves it in that of its caller.
            None => Err(Error::NoCgroupOfItsOwn(self.name.clone(), of_process)),
        }
    }
}

/// The cgroup of a container of containerd, by its id or at least twelve digits of it: `cri-containerd-ID.scope`,
/// `nerdctl-ID.scope`, or `ID`.
pub fn of_containerd(hierarchy: &Hierarchy, id: &str) -> Result<PathBuf> {
    let is_named = |dir: &PathBuf| {
        dir.file_name()
            .is_some_and(|name| is_containers(&name.to_string_lossy(), id))
    };
    let mut found: Vec<_> = hierarchy.cgroups().filter(is_named).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Error::NotRunning("containerd", id.to_owned())),
        _ => {
            let lines = found
                .iter()
                .map(|dir| format!("\n  {}", hierarchy.below_root(dir).display()));
            Err(Error::SeveralCgroups(id.to_owned(), lines.collect()))
        }
    }
}

fn is_containers(cgroup: &str, id: &str) -> bool {
    let scope = cgroup.strip_suffix(".scope");
    let of_scope = scope.and_then(|name| {
        ["cri-containerd-", "nerdctl-"]
            .iter()
            .find_map(|start| name.strip_prefix(start))
    });
    let whole = of_scope.unwrap_or(cgroup);
    whole == id || (id.len() >= PREFIX && whole.starts_with(id))
}

/// The cgroup of the engine itself: of the daemon that fetches images, whose containers are in cgroups of their own.
pub fn of_daemon(hierarchy: &Hierarchy, daemon: &str) -> Result<PathBuf> {
    let all = procfs::process::all_processes().into_iter().flatten().flatten();
    let mut named = all.filter(|process| process.stat().is_ok_and(|stat| stat.comm == daemon));
    let missing = || Error::NoDaemon(daemon.to_owned());
    let process = named.next().ok_or_else(missing)?;
    let cgroup = hierarchy.cgroup_of(process.pid().unsigned_abs()).ok_or_else(missing)?;
    let own = cgroup.file_name().map(|name| name.to_string_lossy().into_owned());
    match own.filter(|name| name.ends_with(".service")) {
        Some(_) => Ok(cgroup),
        None => Err(Error::NoUnitOfItsOwn(daemon.to_owned(), hierarchy.below_root(&cgroup))),
    }
}

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

/// Of the network namespace that a process is in. None if that is this program's own.
pub fn helpers_of(pid: u32) -> Vec<Helper> {
    let Some(wanted) = namespace::of(pid).filter(|wanted| namespace::own() != Some(*wanted)) else {
        return Vec::new();
    };
    let of = |(process, words): (Process, Vec<String>)| {
        let pid = process.pid().unsigned_abs();
        let name = words.first()?.rsplit('/').next()?;
        let helps = HELPERS.contains(&name) && serves(pid, &words, wanted) && namespace::of(pid) != Some(wanted);
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
            Ok(pid) => namespace::of(pid) == Some(wanted),
            Err(_) => {
                word.starts_with('/') && namespace::of_file(&format!("/proc/{helper}/root{word}")) == Some(wanted)
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_and_names() {
        assert_eq!(Engine::split("docker:web"), Some((Engine::Docker, "web")));
        assert_eq!(Engine::split("containerd:3f0a"), Some((Engine::Containerd, "3f0a")));
        for none in ["web", "lxc:web", "docker-3f0a.scope", "system.slice/docker.service"] {
            assert_eq!(Engine::split(none), None, "{none}");
        }
    }

    #[test]
    fn cgroups_of_containerd() {
        let id = "3fa0123456789abc";
        for (cgroup, asked, is) in [
            ("cri-containerd-3fa0123456789abc.scope", id, true),
            ("nerdctl-3fa0123456789abc.scope", "3fa012345678", true),
            (id, id, true),
            (id, "3fa0", false),
            ("web", "web", true),
            ("docker-3fa0123456789abc.scope", id, false),
        ] {
            assert_eq!(is_containers(cgroup, asked), is, "{cgroup} {asked}");
        }
    }

    #[test]
    fn the_namespace_is_a_file_or_a_process() {
        let (me, own) = (std::process::id(), namespace::own().expect("a namespace"));
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
