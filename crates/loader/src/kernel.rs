// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What kernel this is: its version, its type information, the names it knows.

use std::fmt;
use std::path::Path;

use libbpf_rs::btf::types::{FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, ReferencesType};
use serde::Serialize;

use crate::{libbpf, Error, Result};

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
        Some(Self(
            numbers.next()?.parse().ok()?,
            numbers.next()?.parse().ok()?,
        ))
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
        libbpf::quiet();
        let btf = Btf::from_path(path).ok()?;
        let has = |name: &str| {
            btf.type_by_name::<libbpf_rs::btf::BtfType<'_>>(name)
                .is_some()
        };
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
    let member = ops
        .iter()
        .find(|m| m.name.is_some_and(|n| n == "cong_control"))?;
    let pointer: Ptr<'_> = btf.type_by_id(member.ty)?;
    let function: FuncProto<'_> = btf.type_by_id(pointer.referenced_type().type_id())?;
    u32::try_from(function.iter().count()).ok()
}

/// The names setsockopt(TCP_CONGESTION) takes now, in every network namespace.
pub fn congestion_controls() -> Result<Vec<String>> {
    let text = std::fs::read_to_string(CONGESTION_CONTROLS)
        .map_err(Error::file("read", CONGESTION_CONTROLS))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
