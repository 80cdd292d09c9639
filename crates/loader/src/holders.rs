// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Programs of others that hold the root of the cgroups: attached so that none can join them.

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

use libbpf_rs::libbpf_sys::{
    bpf_attach_type, bpf_prog_query, BPF_CGROUP_INET_SOCK_CREATE, BPF_CGROUP_SOCK_OPS,
    BPF_CGROUP_SYSCTL, BPF_F_ALLOW_MULTI,
};
use libbpf_rs::query::ProgInfoIter;
use serde::Serialize;

/// Where netnice attaches programs for everybody.
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
        write!(f, "'{program}' (program {id}, {hook})")
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
        program: named(id)
            .map_or_else(String::new, |info| info.name.to_string_lossy().into_owned()),
    };
    ids.into_iter()
        .flat_map(|(hook, ids)| ids.into_iter().map(move |id| holder(hook, id)))
        .collect()
}

/// Of programs that do not let others join.
fn alone(cgroup: &File, kind: bpf_attach_type) -> Vec<u32> {
    let (mut flags, mut ids, mut number) = (0, [0; MOST], MOST as u32);
    // SAFETY: the kernel writes at most `number` of the ids, and a word each of the others.
    let failed = unsafe {
        bpf_prog_query(
            cgroup.as_raw_fd(),
            kind,
            0,
            &mut flags,
            ids.as_mut_ptr(),
            &mut number,
        )
    };
    if failed != 0 || flags & BPF_F_ALLOW_MULTI != 0 {
        return Vec::new();
    }
    ids[..(number as usize).min(MOST)].to_vec()
}
