// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What `attach`, `detach` and `explain` are about: a cgroup, by its own name, a unit's or a container's.

use std::path::PathBuf;

use anyhow::Result;
use netnice_loader::cgroup::Hierarchy;
use netnice_loader::container::{helpers_of, of_containerd, of_daemon, Container, Engine, Helper};

pub struct Named {
    pub cgroup: PathBuf,
    /// What sends for it, if it is a rootless container.
    pub helper: Option<Helper>,
}

/// `docker:web`, `podman:web`, `containerd:ID`, or what the hierarchy of cgroups knows.
pub fn named(text: &str) -> Result<Named> {
    let hierarchy = Hierarchy::find()?;
    let alone = |cgroup| Named { cgroup, helper: None };
    Ok(match Engine::split(text) {
        None => alone(hierarchy.named(text)?),
        Some((Engine::Containerd, id)) => alone(of_containerd(&hierarchy, id)?),
        Some((engine, name)) => {
            let container = Container::named(engine, name)?;
            Named {
                cgroup: container.cgroup(&hierarchy)?,
                helper: container.pid.and_then(|pid| helpers_of(pid).pop()),
            }
        }
    })
}

/// The unit of an engine, which fetches images; containers are in cgroups of their own.
pub fn fetching(daemon: &str) -> Result<Named> {
    let cgroup = of_daemon(&Hierarchy::find()?, daemon)?;
    Ok(Named { cgroup, helper: None })
}
