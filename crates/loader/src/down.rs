// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Unloading: nothing stays. Live connections keep the algorithm they run on until they end.

use crate::cgroup::Hierarchy;
use crate::facts::privileged;
use crate::lock::Lock;
use crate::release::release;
use crate::{bpffs, niceness, pins, Error, Result, Step};

/// What down found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    /// False when nothing was loaded.
    pub anything: bool,
    /// Processes that were nice, by themselves or by a cgroup of netnice, and are in the foreground now.
    pub returned: usize,
    /// The bpf file system was ours and is unmounted.
    pub unmounted: bool,
}

pub fn down(on_step: &mut dyn FnMut(Step)) -> Result<Removed> {
    if !privileged() {
        return Err(Error::NotRoot("unload netnice"));
    }
    let _lock = Lock::take()?;
    on_step(Step::Locked);
    let pinned = pins::root().exists();
    let nice = niceness::entries().len();
    pins::remove_file(&pins::state())?;
    on_step(Step::StateRemoved);
    release();
    pins::remove_links()?;
    on_step(Step::LinksRemoved);
    pins::remove_rest()?;
    on_step(Step::PinsRemoved);
    let (made, moved) = match Hierarchy::find() {
        Ok(hierarchy) => (hierarchy.exists(), hierarchy.remove()?),
        Err(Error::NoCgroup2) => (false, 0),
        Err(e) => return Err(e),
    };
    on_step(Step::CgroupsRemoved);
    let unmounted = bpffs::unmount()?;
    on_step(Step::BpffsUnmounted);
    Ok(Removed {
        anything: pinned || made,
        returned: nice + moved,
        unmounted,
    })
}
