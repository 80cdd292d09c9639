// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Everything that can go wrong: what, why and what to do.

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use libbpf_rs::libbpf_sys::{
    bpf_attach_type, bpf_prog_query, BPF_CGROUP_INET_SOCK_CREATE, BPF_CGROUP_SOCK_OPS, BPF_CGROUP_SYSCTL,
    BPF_F_ALLOW_MULTI,
};
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{set_print, PrintLevel};
use serde::Serialize;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("this machine cannot run netnice:{}\nRun 'netnicectl doctor' for the whole list.", listed(.0))]
    Unsupported(Vec<Finding>),
    #[error("only root can {0}.\nTry 'sudo …' the same command.")]
    NotRoot(&'static str),
    // No field is named 'source': a reason that is in the text must not be printed a second time.
    #[error("cannot {what} {}: {why}", path.display())]
    File {
        what: &'static str,
        path: PathBuf,
        why: io::Error,
    },
    #[error("the kernel refused to {what}: {why:#}{log}", log = indented(log))]
    Bpf {
        what: String,
        log: String,
        why: libbpf_rs::Error,
    },
    #[error("cannot read {}: {}.\nWrite rules there, see 'man policy.toml', or name another file.", .0.display(), .1)]
    NoPolicy(PathBuf, io::Error),
    #[error("process {0} has held {1} for {2} s: another netnice is starting or stopping, or hangs.\nWait for it, or end it, and try again.")]
    Locked(String, PathBuf, u64),
    #[error("netnice on this machine is reserved by PID {0} ({1}), and has been for the {2} s that this command waited.\nTry again when that process has ended, or end it: 'kill {0}'. Nothing was changed.")]
    Reserved(String, String, u64),
    #[error("a congestion control named '{0}' is already registered, and not by this netnice: a kernel module, or an up from another mount namespace.\nUnload that one first ('rmmod tcp_{0}', or 'netnicectl down' where it was loaded).")]
    NameTaken(String),
    #[error("no algorithm is named '{0}'; there are: {1}")]
    UnknownAlgorithm(String, String),
    #[error("'{0}' is not loaded; loaded: {1}.\nLoad it with 'netnicectl up --with {0}'.")]
    NotLoaded(String, String),
    #[error("no parameter is named '{0}'; there are: {1}")]
    UnknownParameter(String, String),
    #[error(
        "the rules hold, but nothing waits for the hours of some: {0}.\nApply them again: 'netnicectl policy apply'."
    )]
    Timetable(io::Error),
    #[error("there is no command '{0}' on this machine: it is not installed, or not in the PATH of this user.\nName the cgroup: 'systemd-cgls' lists them.")]
    NoEngine(&'static str),
    #[error("{0} does not tell: {1}.\nSee its containers: '{0} ps --all'.")]
    Engine(&'static str, String),
    #[error("no container of {0} that is named '{1}' runs.\nStart it first, or write a rule: policy.toml(5).")]
    NotRunning(&'static str, String),
    #[error("container '{0}' has no cgroup of its own: it is in {1}.\nAttach that, with all else in it, or start the container with its engine's usual cgroups.")]
    NoCgroupOfItsOwn(String, PathBuf),
    #[error(
        "could not move process {0}, which sends for the container: {1}.\nMove it by itself: 'netnice -n 0 -p {0}'."
    )]
    Helper(u32, String),
    #[error("no process named '{0}' runs.\nStart it, or name what fetches images: containerd, dockerd.")]
    NoDaemon(String),
    #[error("'{0}' is in no unit of its own, but in '{1}'.\nStart it as a service, so that what else runs there stays in the foreground.")]
    NoUnitOfItsOwn(String, PathBuf),
    #[error("there is one '{0}': name it once, and alone")]
    Twice(&'static str),
    #[error("{name} cannot be '{value}': it is a whole number ({range})")]
    BadValue {
        name: &'static str,
        value: String,
        range: String,
    },
    #[error("netnice is not up, so there is nothing to {0}.\nRun 'netnicectl up' first.")]
    NotUp(&'static str),
    #[error("netnice is up, but only root can see and change what is loaded.\nRun the same command with sudo.")]
    Hidden,
    #[error("what is loaded comes from another build of netnice, so its parameters cannot be read.\nRun 'netnicectl up' to replace it.")]
    OtherBuild,
    #[error("unknown receiver '{0}': choose one of off, {1}")]
    UnknownReceiver(String, String),
    #[error("another eBPF program is attached exclusively to the root cgroup, so no other cgroup can be reached.\n'netnicectl status' shows what the kernel said.")]
    RootIsTaken,
    #[error("{0} holds the root of the cgroups: no other eBPF program can be attached there, nor to any cgroup below. So no connection can be reached.\nAttach it so that others may join (BPF_F_ALLOW_MULTI), or detach it: 'bpftool cgroup detach'.")]
    NothingBelow(Holder),
    #[error("no unit, container or other cgroup is named '{0}': a unit that is stopped has no cgroup.\nName a running unit as systemd does, 'cron.service', or a path below {1}. A rule in policy.toml reaches a unit at each start.")]
    NoCgroup(String, PathBuf),
    #[error("'{0}' is the name of several cgroups:{1}\nName the path of one.")]
    SeveralCgroups(String, String),
    #[error("{0} cannot be attached: it is the root of the cgroups, netnice's own, or 32 deep.\nName a unit, a container or a cgroup of yours.")]
    NotAttachable(PathBuf),
    #[error("{0} is no cgroup of the hierarchy at {1}: its path leads out of it, or another mount hides it.\nName a unit, a container or a cgroup below {1}.")]
    OutsideHierarchy(PathBuf, PathBuf),
    #[error("no cgroup v2 hierarchy is mounted.\nMount one: 'mount -t cgroup2 none /sys/fs/cgroup' (or boot with systemd.unified_cgroup_hierarchy=1).")]
    NoCgroup2,
    #[error("{} cannot be applied: {}\nNothing was changed. What a rule may say: 'man policy.toml'.", .0.display(), .1.trim_end())]
    BadPolicy(PathBuf, String),
    #[error("cannot empty the cgroup {}: processes keep starting in it.\nEnd them and run 'netnicectl down' again.", .0.display())]
    Busy(PathBuf),
    #[error("the connections that process {0} has cannot be reached: {1}. Those it opens from now on are as asked.\nIt takes root with CAP_SYS_PTRACE: 'sudo netnice …'. Where even root may not, in a container say, start the program with netnice instead.")]
    Unreachable(u32, io::Error),
    #[error("cannot tell the cgroup of this process: {0}.\nIs /proc mounted? 'mount -t proc proc /proc'.")]
    OwnGroup(procfs::ProcError),
    #[error("cannot ask the kernel for its TCP sockets: {0}")]
    Sockets(io::Error),
}

impl Error {
    pub(crate) fn file(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |why| Self::File { what, path, why }
    }

    /// Takes along what libbpf printed: the verifier's reason is there.
    pub(crate) fn bpf(what: impl Into<String>) -> impl FnOnce(libbpf_rs::Error) -> Self {
        let what = what.into();
        move |why| Self::Bpf {
            what,
            log: take_log(),
            why,
        }
    }
}

/// What libbpf prints on stderr is kept for the error message it belongs to.
static LOG: Mutex<String> = Mutex::new(String::new());
/// The verifier's last words are what counts; its whole log can be megabytes.
const LOG_LIMIT: usize = 4096;

/// libbpf prints nothing from now on.
pub(crate) fn quiet_libbpf() {
    fn keep(_: PrintLevel, text: String) {
        let mut log = LOG.lock().unwrap_or_else(|e| e.into_inner());
        log.push_str(&text);
        if log.len() > LOG_LIMIT {
            let cut = log
                .char_indices()
                .map(|(i, _)| i)
                .find(|i| log.len() - i <= LOG_LIMIT)
                .unwrap_or(0);
            log.drain(..cut);
        }
    }
    set_print(Some((PrintLevel::Warn, keep)));
}

fn take_log() -> String {
    mem::take(&mut *LOG.lock().unwrap_or_else(|e| e.into_inner()))
}

fn listed(findings: &[Finding]) -> String {
    findings
        .iter()
        .map(|f| format!("\n  {}: {} {}\n    What to do: {}", f.name, f.state, f.why, f.remedy))
        .collect()
}

fn indented(log: &str) -> String {
    log.lines().map(|line| format!("\n  {line}")).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Ok,
    /// Not as usual, but netnice copes.
    Note,
    /// Needed, and missing.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub name: &'static str,
    pub verdict: Verdict,
    /// What was found.
    pub state: String,
    /// What netnice needs it for.
    pub why: &'static str,
    /// What to do about it; empty when all is well.
    pub remedy: String,
}

/// Where netnice attaches programs for all users.
const HOOKS: [(&str, bpf_attach_type); 3] = [
    ("sock_create", BPF_CGROUP_INET_SOCK_CREATE),
    ("sock_ops", BPF_CGROUP_SOCK_OPS),
    ("sysctl", BPF_CGROUP_SYSCTL),
];
/// More than the kernel lets attach at one place.
const MOST: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// As bpftool names it.
    pub hook: &'static str,
    pub id: u32,
    pub program: String,
}

impl Display for Holder {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { hook, id, program } = self;
        write!(f, "'{program}' (eBPF program {id}, {hook})")
    }
}

/// Those at this cgroup; none where the kernel does not tell, which takes root.
pub(crate) fn holders(cgroup: &Path) -> Vec<Holder> {
    let Ok(file) = File::open(cgroup) else {
        return Vec::new();
    };
    let ids = HOOKS.map(|(hook, kind)| (hook, alone(&file, kind)));
    if ids.iter().all(|(_, ids)| ids.is_empty()) {
        return Vec::new();
    }
    let named = |id| ProgInfoIter::default().find(|info| info.id == id);
    let holder = |hook, id| Holder {
        hook,
        id,
        program: named(id).map_or_else(String::new, |info| info.name.to_string_lossy().into_owned()),
    };
    ids.into_iter()
        .flat_map(|(hook, ids)| ids.into_iter().map(move |id| holder(hook, id)))
        .collect()
}

/// Of programs that do not let others join.
fn alone(cgroup: &File, kind: bpf_attach_type) -> Vec<u32> {
    let (mut flags, mut ids, mut number) = (0, [0; MOST], MOST as u32);
    // SAFETY: the kernel writes at most `number` of the ids, and a word each of the others.
    let failed = unsafe { bpf_prog_query(cgroup.as_raw_fd(), kind, 0, &mut flags, ids.as_mut_ptr(), &mut number) };
    if failed != 0 || flags & BPF_F_ALLOW_MULTI != 0 {
        return Vec::new();
    }
    ids[..(number as usize).min(MOST)].to_vec()
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    /// 'netnicectl' prints an error with its sources.
    #[test]
    fn a_reason_is_given_once() {
        let missing = || io::Error::from_raw_os_error(2);
        let path = || PathBuf::from("/nonexistent");
        let errors = [
            Error::file("read", path())(missing()),
            Error::bpf("load a program")(missing().into()),
            Error::NoPolicy(path(), missing()),
            Error::Sockets(missing()),
            Error::Timetable(missing()),
            Error::Unreachable(1, missing()),
        ];
        for error in errors {
            assert!(error.to_string().contains("No such file"), "{error}");
            assert!(error.source().is_none(), "{error}: its reason is its source, too");
        }
    }
}
