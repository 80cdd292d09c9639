// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is there right now, for people and programs.

use procfs::process::all_processes;
use serde::Serialize;

use crate::attachments::{self, Attachment, InEffect};
use crate::cgroup::Hierarchy;
use crate::deadline::{self, TimedProcess};
use crate::facts::{congestion_controls, privileged};
use crate::floor::{self, Together};
use crate::group::{Group, HIGHEST_LEVEL};
use crate::niceness::{self, NicenessStatus};
use crate::policy::{AllCounters, Counters};
use crate::receiver::ReceiverStatus;
use crate::rules::{self, Rule};
use crate::settings::{State, ALGORITHMS};
use crate::{pins, quic, receiver, sockets, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    Up,
    Down,
    /// An up or down did not finish.
    Incomplete,
    /// Something is registered; only root sees what.
    Hidden,
}

#[derive(Debug, Serialize)]
pub struct Status {
    pub condition: Condition,
    /// What is loaded, when it could be read.
    pub loaded: Option<State>,
    /// It was loaded by the very build that asks.
    pub same_build: bool,
    /// TCP connections of this network namespace; some may outlive a down.
    pub connections: Vec<Connections>,
    /// Why they could not be counted.
    pub connections_untold: Option<String>,
    /// None when nothing is loaded.
    pub background: Option<Background>,
    pub groups: Vec<GroupStatus>,
    /// Cgroups that were put into the background where they are.
    pub attached: Vec<Attachment>,
    /// Rules in effect; empty without root.
    pub rules: Vec<Rule>,
    /// Processes that are nice by themselves, in whatever cgroup; none when it is not loaded.
    pub niceness: Option<NicenessStatus>,
    /// Of these processes, and of others, what ends; empty without root.
    pub timed: Vec<TimedProcess>,
    /// Processes that have a rate together; none without root.
    pub floors: Vec<Together>,
    /// What yields with what it receives, and how; none when nothing is loaded.
    pub receiver: Option<ReceiverStatus>,
    /// How often QUIC was refused; none when it is allowed to all.
    pub quic_refused: Option<u64>,
}

#[derive(Debug, Serialize)]
pub struct Connections {
    pub algorithm: String,
    pub count: usize,
    /// Of them, those that send with DSCP LE now.
    pub marked: usize,
}

/// Processes in the background: by themselves, by a cgroup of netnice, or by one that is attached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Background {
    /// How many at each level.
    pub levels: [usize; HIGHEST_LEVEL as usize + 1],
    /// Without root, processes of attached cgroups are not seen.
    pub with_attached: bool,
}

impl Background {
    fn count() -> Self {
        let (in_effect, mut levels) = (InEffect::read(), [0; HIGHEST_LEVEL as usize + 1]);
        for process in all_processes().into_iter().flatten().flatten() {
            if let Some(group) = in_effect.of(process.pid().unsigned_abs()) {
                levels[group.level as usize] += 1;
            }
        }
        Self {
            levels,
            with_attached: privileged(),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct GroupStatus {
    pub name: String,
    pub processes: Vec<u32>,
    pub counters: Option<Counters>,
}

pub fn status() -> Result<Status> {
    let loaded = State::read();
    let registered = congestion_controls()?;
    // A kernel without tcp_diag does not tell; all else is to be said.
    let counted = sockets::by_congestion_control();
    let connections_untold = counted.as_ref().err().map(ToString::to_string);
    let found = counted.unwrap_or_default();
    let names = ALGORITHMS.iter().map(|a| a.name.to_owned());
    let connections = names
        .filter(|n| registered.contains(n) || found.contains_key(n))
        .map(|algorithm| Connections {
            count: found.get(&algorithm).map_or(0, |count| count.all),
            marked: found.get(&algorithm).map_or(0, |count| count.marked),
            algorithm,
        })
        .collect();
    let hierarchy = Hierarchy::find().ok();
    let made = hierarchy.as_ref().is_some_and(Hierarchy::exists);
    let groups = match &hierarchy {
        Some(h) if made => groups(h),
        _ => Vec::new(),
    };
    let condition = match &loaded {
        Some(_) => Condition::Up,
        None if hierarchy.as_ref().is_some_and(State::is_hidden) => Condition::Hidden,
        None if made || pins::root().exists() => Condition::Incomplete,
        None => Condition::Down,
    };
    let by_up = loaded.as_ref().is_some_and(|state| state.applications);
    let of_receiver = |receiver: ReceiverStatus| ReceiverStatus {
        applications: receiver.applications && by_up,
        ..receiver
    };
    let same_build = loaded.as_ref().is_some_and(|s| s.build_id == crate::BUILD_ID);
    Ok(Status {
        condition,
        loaded,
        same_build,
        connections,
        connections_untold,
        background: (condition != Condition::Down).then(Background::count),
        groups,
        attached: attachments::all(),
        rules: rules::current(),
        niceness: niceness::status(),
        timed: deadline::all(),
        floors: floor::all(),
        receiver: receiver::status().map(of_receiver),
        quic_refused: quic::refused(),
    })
}

fn groups(hierarchy: &Hierarchy) -> Vec<GroupStatus> {
    let counters = AllCounters::open();
    let status = |group: Group| GroupStatus {
        name: group.name(),
        processes: hierarchy.processes(group),
        counters: counters.of(hierarchy, group),
    };
    Group::all().map(status).collect()
}
