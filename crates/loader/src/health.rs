// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Is what is loaded complete, ours and still attached?

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use libbpf_rs::query::{LinkInfo, LinkTypeInfo};
use libbpf_rs::Link;

use crate::cgroup::Hierarchy;
use crate::group::Group;
use crate::niceness::{self, Place};
use crate::receiver::{ADOPTED_PROGRAM, OPTION_PROGRAM, PROGRAM};
use crate::state::State;
use crate::{kernel, pins, quic, receiver, Result, UpOptions};

pub(crate) enum Health {
    /// Nothing of netnice is there.
    Absent,
    /// All as asked.
    Healthy,
    /// Something is there, but not all as asked: what is wrong, each in a few words.
    Degraded(Vec<String>),
}

pub(crate) fn examine(hierarchy: &Hierarchy, wanted: &UpOptions) -> Result<Health> {
    let Some(state) = State::read() else {
        let remains =
            pins::root().exists() || Group::all().any(|group| hierarchy.id(group).is_some());
        return Ok(if remains {
            Health::Degraded(vec!["incomplete".to_owned()])
        } else {
            Health::Absent
        });
    };
    if state.build_id != crate::BUILD_ID {
        // What else there should be is that build's to know.
        let other = format!("loaded by another build, version {}", state.version);
        return Ok(Health::Degraded(vec![other]));
    }
    let mut defects = Vec::new();
    if state.algorithms != wanted.algorithms() || state.mark != wanted.mark {
        defects.push("loaded with other options".to_owned());
    }
    let registered = kernel::congestion_controls()?;
    for cc in &state.algorithms {
        if !registered.contains(cc) || !pins::sender_link(cc).exists() {
            defects.push(format!("'{cc}' is no longer registered"));
        }
    }
    for group in Group::all() {
        let name = group.name();
        let there =
            |pin: &Path| hierarchy.id(group).is_some() && attached_to(pin) == hierarchy.id(group);
        if group.direction.sends() && !there(&pins::policy_link(&name)) {
            defects.push(format!("the cgroup {name} has lost its policy"));
        }
        if group.direction.receives() && !there(&pins::receiver_link(&name, PROGRAM)) {
            defects.push(format!("the cgroup {name} has lost its receiver"));
        }
    }
    let root = hierarchy.root().metadata().ok().map(|m| m.ino());
    let at_root = |program: &str| attached_to(&pins::adopted_link(program)) == root;
    if receiver::adopting() && !at_root(OPTION_PROGRAM) {
        defects.push("the root of the cgroups has lost the option for applications".to_owned());
    }
    if quic::refusing() && !quic::links().all(|link| attached_to(&link) == root) {
        defects.push("the root of the cgroups has lost what refuses QUIC".to_owned());
    }
    let in_place = |(link, place): (PathBuf, Place)| match place {
        Place::Kernel => link.exists(),
        Place::Root => attached_to(&link) == root,
    };
    if state.hindered.is_none() && !(niceness::links().all(in_place) && at_root(ADOPTED_PROGRAM)) {
        defects.push("the programs that let everybody be nice are gone".to_owned());
    }
    if !pins::params().exists() || !pins::receiver_params().exists() {
        defects.push("the parameters are gone".to_owned());
    }
    for (pin, what) in [
        (pins::groups(), "the map of the cgroups"),
        (pins::moved(), "the map of moved sockets"),
    ] {
        if !pin.exists() {
            defects.push(format!("{what} is gone"));
        }
    }
    Ok(if defects.is_empty() {
        Health::Healthy
    } else {
        Health::Degraded(defects)
    })
}

// A link outlives the cgroup it was made for; only the id tells.
fn attached_to(pin: &Path) -> Option<u64> {
    use std::os::fd::AsFd;
    let link = Link::open(pin).ok()?;
    match LinkInfo::from_fd(link.as_fd()).ok()?.info {
        LinkTypeInfo::Cgroup(cgroup) => Some(cgroup.cgroup_id),
        _ => None,
    }
}
