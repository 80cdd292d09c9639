// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the machine is like, read from /proc and /sys and from nowhere else.

use std::path::{Path, PathBuf};
use std::{fmt, fs};

use libbpf_rs::btf::types::{FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, ReferencesType};
use procfs::process::{LimitValue, Limits, Status};
use procfs::FromBufRead;
use serde::Serialize;

use crate::bpffs::{self, Mount};
use crate::error::quiet_libbpf;
use crate::error::{holders, Holder};
use crate::{cgroup, Error, Result};

const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_PTRACE: u32 = 19;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_BPF: u32 = 39;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Facts {
    pub release: Option<Release>,
    pub types: Option<TypeInfo>,
    /// net.core.bpf_jit_enable; `None` when the kernel was built without.
    pub jit: Option<u32>,
    pub cgroup2: Option<PathBuf>,
    pub cgroup1: bool,
    pub bpffs_known: bool,
    pub bpffs_mounted: bool,
    /// The effective set, a bit mask.
    pub capabilities: u64,
    /// Others' programs that hold the root of the cgroups; `None` where that is not told.
    pub holders: Option<Vec<Holder>>,
    /// RLIMIT_MEMLOCK in bytes; `None` is unlimited.
    pub memlock: Option<u64>,
    /// The third of net.ipv4.tcp_rmem: bytes that a receive buffer may grow to.
    pub receive_buffer: Option<u64>,
}

impl Facts {
    /// `root` is "/", or a directory holding another machine's proc and sys.
    pub fn gather(root: &Path) -> Self {
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
        let mounts = bpffs::parse_mounts(&read("proc/self/mountinfo"));
        let (cgroup2, capabilities) = (cgroup::mounted(&mounts), capabilities(&read));
        let told = root == Path::new("/") && lacking(capabilities).is_empty();
        Self {
            holders: cgroup2.as_deref().filter(|_| told).map(holders),
            release: Release::parse(&read("proc/sys/kernel/osrelease")),
            types: TypeInfo::read(&root.join("sys/kernel/btf/vmlinux")),
            jit: read("proc/sys/net/core/bpf_jit_enable").trim().parse().ok(),
            cgroup2,
            cgroup1: mounts.iter().any(|m: &Mount| m.fs == "cgroup"),
            bpffs_known: read("proc/filesystems")
                .lines()
                .any(|l| l.split_whitespace().last() == Some("bpf")),
            bpffs_mounted: bpffs::mounted(&mounts).is_some(),
            capabilities,
            memlock: locked_memory(&read("proc/self/limits")),
            receive_buffer: read("proc/sys/net/ipv4/tcp_rmem")
                .split_whitespace()
                .nth(2)
                .and_then(|most| most.parse().ok()),
        }
    }

    /// The sockets of other processes may be reached.
    pub fn reaches_others(&self) -> bool {
        self.capabilities >> CAP_SYS_PTRACE & 1 != 0
    }

    /// Names of the capabilities that are needed and not there.
    pub fn lacking(&self) -> Vec<&'static str> {
        lacking(self.capabilities)
    }
}

/// This process may load programs for TCP and cgroups, pin them and mount.
pub fn privileged() -> bool {
    let read = |path: &str| fs::read_to_string(Path::new("/").join(path)).unwrap_or_default();
    lacking(capabilities(&read)).is_empty()
}

fn lacking(capabilities: u64) -> Vec<&'static str> {
    let needed = [
        (CAP_BPF, "CAP_BPF"),
        (CAP_NET_ADMIN, "CAP_NET_ADMIN"),
        (CAP_SYS_ADMIN, "CAP_SYS_ADMIN"),
    ];
    needed
        .iter()
        .filter(|(bit, _)| capabilities >> bit & 1 == 0)
        .map(|(_, name)| *name)
        .collect()
}

/// Those of another user namespace than the first are none: they load no programs.
fn capabilities(read: &dyn Fn(&str) -> String) -> u64 {
    if in_first_namespace(&read("proc/self/uid_map")) {
        effective(&read("proc/self/status"))
    } else {
        0
    }
}

/// There all users are themselves. A kernel without user namespaces has no such file.
fn in_first_namespace(uid_map: &str) -> bool {
    let words: Vec<&str> = uid_map.split_whitespace().collect();
    words.is_empty() || words == ["0", "0", "4294967295"]
}

fn effective(status: &str) -> u64 {
    Status::from_buf_read(status.as_bytes()).map_or(0, |status| status.capeff)
}

fn locked_memory(limits: &str) -> Option<u64> {
    let limits = Limits::from_buf_read(limits.as_bytes()).ok()?;
    match limits.max_locked_memory.soft_limit {
        LimitValue::Unlimited => None,
        LimitValue::Value(bytes) => Some(bytes),
    }
}

const CONGESTION_CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Arguments of cong_control since Linux 6.10.
pub(crate) const CURRENT_CONG_CONTROL_ARGS: u32 = 4;

/// Major and minor, as in 6.12.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Release(pub u32, pub u32);

impl Release {
    /// Reads the start of /proc/sys/kernel/osrelease, "6.1.0-18-amd64" say.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.trim().split(|c: char| !c.is_ascii_digit());
        Some(Self(numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// What the kernel's BTF says about the places netnice plugs into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TypeInfo {
    /// Arguments of tcp_congestion_ops.cong_control: 2 up to Linux 6.9, 4 from 6.10.
    pub cong_control_args: Option<u32>,
    /// TCP congestion control can be registered from BPF.
    pub tcp_struct_ops: bool,
    /// struct_ops can be held by a pinned link (6.4).
    pub struct_ops_link: bool,
    /// Programs can be attached to cgroups.
    pub cgroup_bpf: bool,
}

impl TypeInfo {
    /// `None` when the file is missing or is no BTF.
    pub fn read(path: &Path) -> Option<Self> {
        quiet_libbpf();
        let btf = Btf::from_path(path).ok()?;
        let has = |name: &str| btf.type_by_name::<libbpf_rs::btf::BtfType<'_>>(name).is_some();
        Some(Self {
            cong_control_args: cong_control_args(&btf),
            tcp_struct_ops: has("bpf_struct_ops_tcp_congestion_ops"),
            struct_ops_link: has("bpf_struct_ops_link"),
            cgroup_bpf: has("cgroup_bpf"),
        })
    }
}

fn cong_control_args(btf: &Btf<'_>) -> Option<u32> {
    let ops: Struct<'_> = btf.type_by_name("tcp_congestion_ops")?;
    let member = ops.iter().find(|m| m.name.is_some_and(|n| n == "cong_control"))?;
    let pointer: Ptr<'_> = btf.type_by_id(member.ty)?;
    let function: FuncProto<'_> = btf.type_by_id(pointer.referenced_type().type_id())?;
    u32::try_from(function.iter().count()).ok()
}

/// The names setsockopt(TCP_CONGESTION) takes now, in every network namespace.
pub fn congestion_controls() -> Result<Vec<String>> {
    let text = std::fs::read_to_string(CONGESTION_CONTROLS).map_err(Error::file("read", CONGESTION_CONTROLS))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_of_a_status_file() {
        let status = changed("status", "CapEff:", "CapEff:\t000001ffffffffff");
        assert_eq!(effective(&status), 0x1ff_ffff_ffff);
        assert_eq!(effective(""), 0);
    }

    #[test]
    fn root_of_a_user_namespace_is_nobody() {
        let with = |map: &str| {
            let read = |path: &str| match path {
                "proc/self/uid_map" => map.to_owned(),
                _ => changed("status", "CapEff:", "CapEff:\t000001ffffffffff"),
            };
            capabilities(&read)
        };
        assert_eq!(with("         0          0 4294967295\n"), 0x1ff_ffff_ffff);
        assert_eq!(with(""), 0x1ff_ffff_ffff);
        assert_eq!(with("         0       1000          1\n"), 0);
    }

    #[test]
    fn memory_limits() {
        let limits = |soft| {
            let line = format!("Max locked memory         {soft}         8388608         bytes");
            changed("limits", "Max locked memory", &line)
        };
        assert_eq!(locked_memory(&limits("65536")), Some(65536));
        assert_eq!(locked_memory(&limits("unlimited")), None);
    }

    /// A file of this process, one line of it as given.
    fn changed(file: &str, start: &str, line: &str) -> String {
        let text = fs::read_to_string(format!("/proc/self/{file}")).expect("/proc");
        let replaced = |old: &str| match old.starts_with(start) {
            true => line.to_owned() + "\n",
            false => old.to_owned() + "\n",
        };
        text.lines().map(replaced).collect()
    }

    #[test]
    fn an_empty_root_has_nothing() {
        let facts = Facts::gather(Path::new("/nonexistent"));
        assert_eq!((facts.release, facts.types, facts.jit), (None, None, None));
        assert!(!facts.lacking().is_empty() && facts.cgroup2.is_none() && !facts.bpffs_mounted);
    }

    #[test]
    fn releases() {
        assert_eq!(Release::parse("6.18.44-fc-v595\n"), Some(Release(6, 18)));
        assert_eq!(Release::parse("6.1.0-18-amd64"), Some(Release(6, 1)));
        assert_eq!(Release::parse("nonsense"), None);
        assert!(Release(6, 10) > Release(6, 9));
    }

    #[test]
    fn a_file_that_is_no_btf() {
        assert_eq!(TypeInfo::read(Path::new("/proc/version")), None);
        assert_eq!(TypeInfo::read(Path::new("/nonexistent")), None);
    }
}
