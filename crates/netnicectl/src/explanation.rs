// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! How nice something is, and why: what holds of a process, a cgroup or a connection, put together.

mod network;
mod socket;

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use anyhow::Result;
use netnice_loader::attachments::in_effect;
use netnice_loader::causes::{Cause, Detached};
use netnice_loader::cgroup::Hierarchy;
use netnice_loader::deadline::{self, Ends};
use netnice_loader::facts::privileged;
use netnice_loader::floor::{self, Had};
use netnice_loader::group::Group;
use netnice_loader::live::{self, Receiving as OfReceiver};
use netnice_loader::niceness;
use netnice_loader::rules::{self, Rule};
use netnice_loader::senders::{self, Sender};
use netnice_loader::settings::State;
use netnice_loader::sockets::{name_of, Flow};
use network::OfNetwork;
use serde::Serialize;

use crate::traffic::bits;

pub use socket::OfSocket;

/// What has a cgroup yield, and what will have it yield again.
fn reasons(hierarchy: &Hierarchy, cgroup: &Path) -> (Vec<Cause>, Vec<Detached>) {
    (Cause::of(hierarchy, cgroup), Detached::of(hierarchy, cgroup))
}

#[derive(Debug, Serialize)]
pub struct OfProcess {
    pid: u32,
    program: String,
    /// By itself; `None` in the foreground.
    own: Option<Group>,
    /// What of that ends, and when; `None` without root.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends: Option<Ends>,
    /// Programs that it starts are in the foreground.
    alone: bool,
    /// Rules for programs of its name.
    rules: Vec<Rule>,
    /// Below the root.
    cgroup: Option<PathBuf>,
    causes: Vec<Cause>,
    detached: Vec<Detached>,
    sees_attached: bool,
    in_effect: Option<Group>,
    /// What its connections have together at least, and at present; `None` without root.
    #[serde(skip_serializing_if = "Option::is_none")]
    floor: Option<Had>,
    /// Its connections, by their congestion control.
    connections: BTreeMap<String, usize>,
    #[serde(flatten)]
    network: OfNetwork,
    /// Processes that send for it, and for what it has started.
    senders: Vec<Sender>,
    /// `None`: only root can see it.
    receiving: Option<Receiving>,
    /// The same of each socket, by inode.
    #[serde(skip)]
    yields: Option<HashMap<u64, OfReceiver>>,
}

/// Connections by whether what they receive yields.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Receiving {
    yielding: usize,
    others: usize,
    /// Of those that yield: the window scale is too large to yield well.
    coarse: usize,
}

impl OfProcess {
    /// `None`: there is none.
    pub fn look(pid: u32) -> Result<Option<Self>> {
        let Some(program) = name_of(pid) else {
            return Ok(None);
        };
        let hierarchy = Hierarchy::find()?;
        let cgroup = hierarchy.cgroup_of(pid);
        let (causes, detached) = cgroup
            .as_deref()
            .map(|cgroup| reasons(&hierarchy, cgroup))
            .unwrap_or_default();
        let mut connections = BTreeMap::new();
        let (flows, network) = OfNetwork::look(pid)?;
        for flow in &flows {
            *connections.entry(flow.congestion_control.clone()).or_insert(0) += 1;
        }
        let yields = live::receiving(pid);
        let receiving = yields.as_ref().map(|all| {
            let of_flow = |flow: &Flow| all.get(&flow.inode.into());
            let yields = |flow: &&Flow| of_flow(flow).is_some_and(|one| one.yields);
            let yielding = flows.iter().filter(yields).count();
            Receiving {
                yielding,
                others: flows.len() - yielding,
                coarse: flows.iter().filter(yields).filter(|flow| flow.is_coarse()).count(),
            }
        });
        let mut rules = rules::current();
        rules.retain(|rule| rule.names_command(&program));
        Ok(Some(Self {
            pid,
            program,
            own: niceness::of(pid),
            ends: deadline::of(pid),
            alone: niceness::is_alone(pid),
            rules,
            cgroup: cgroup.map(|dir| hierarchy.below_root(&dir)),
            causes,
            detached,
            sees_attached: !State::is_hidden(&hierarchy),
            in_effect: in_effect(pid),
            floor: floor::had_by(pid),
            connections,
            network,
            senders: Vec::new(),
            receiving,
            yields,
        }))
    }

    /// With the processes that send for it.
    pub fn with_senders(mut self) -> Self {
        let level = self.in_effect.map(|group| group.level);
        self.senders = senders::senders(&senders::family(self.pid), level);
        self
    }
}

impl Display for OfProcess {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "process {} ({})", self.pid, self.program)?;
        let own = self.own.map_or("foreground".to_owned(), |group| group.to_string());
        let alone = if self.alone {
            ", without programs that it starts"
        } else {
            ""
        };
        writeln!(f, "  by itself        {own}{alone}")?;
        if let Some(Ends { group, until }) = self.ends {
            writeln!(f, "                   {group} until {until}")?;
        }
        for rule in &self.rules {
            writeln!(f, "                   the policy: {rule}")?;
        }
        if let Some(cgroup) = &self.cgroup {
            writeln!(f, "  its cgroup       /{}", cgroup.display())?;
        }
        for cause in &self.causes {
            writeln!(f, "                   {cause}")?;
        }
        for detached in &self.detached {
            writeln!(
                f,
                "                   {detached}\n                   {}",
                detached.returns()
            )?;
        }
        let seen = match self.sees_attached {
            true => "",
            false => {
                writeln!(f, "                   {UNSEEN}")?;
                ", as far as this user can see"
            }
        };
        let (level, promise) = match self.in_effect {
            None => (
                "foreground".to_owned(),
                "what it opens from now on is not touched".to_owned(),
            ),
            Some(group) => (group.to_string(), promised(group)),
        };
        writeln!(f, "  in effect        {level}{seen}: {promise}")?;
        if let Some(step) = self.next_step(privileged()) {
            writeln!(f, "                   {step}")?;
        }
        if let Some(had) = &self.floor {
            writeln!(f, "{}", together(had))?;
        }
        write!(f, "  its connections  {}", self.connections())?;
        for remark in self.network.remarks(self.pid) {
            write!(f, "\n                   {remark}")?;
        }
        if self.is_idle() {
            write!(f, "\n                   {ELSEWHERE}")?;
        }
        for sender in &self.senders {
            write!(f, "\n  its senders      {sender}")?;
        }
        let receives = self.in_effect.is_some_and(|group| group.direction.receives());
        match (self.receiving, self.connections.len()) {
            (_, 0) => Ok(()),
            (Some(Receiving { yielding: 0, .. }), _) if !receives => Ok(()),
            (
                Some(Receiving {
                    yielding,
                    others,
                    coarse,
                }),
                _,
            ) => {
                write!(
                    f,
                    "\n                   incoming traffic yields on {yielding}, does not on {others}"
                )?;
                match coarse {
                    0 => Ok(()),
                    _ => write!(f, "\n                   it yields badly on {coarse}: {COARSE}"),
                }
            }
            (None, _) if receives => write!(
                f,
                "\n                   only root can see on how many of them incoming traffic yields"
            ),
            (None, _) => Ok(()),
        }
    }
}

impl OfProcess {
    fn connections(&self) -> String {
        let by = self.connections.iter();
        let counts: Vec<String> = by.map(|(name, number)| format!("{number} on {name}")).collect();
        match (&self.network.untold, counts.len()) {
            (Some(_), _) => "not known".to_owned(),
            (None, 0) => "none of TCP".to_owned(),
            (None, _) => counts.join(", "),
        }
    }

    /// How it comes to the background, if it is not there and the connections are its own.
    fn next_step(&self, is_root: bool) -> Option<String> {
        let has_traffic = !self.connections.is_empty() || self.network.untold.is_some();
        if self.in_effect.is_some() || !self.senders.is_empty() || !has_traffic {
            return None;
        }
        let takes_root = is_root || self.network.untold.is_some();
        let sudo = if takes_root { "sudo " } else { "" };
        Some(format!(
            "to put it in the background: '{sudo}netnice -n 0 -p {}'",
            self.pid
        ))
    }

    /// It has no socket whose traffic is known, and no process that sends for it is.
    fn is_idle(&self) -> bool {
        let none = self.connections.is_empty() && self.network.udp_sockets == Some(0);
        none && self.network.untold.is_none() && self.senders.is_empty()
    }
}

const ELSEWHERE: &str = "if it has traffic, another process may send for it: 'sudo netnicectl top --all'";
/// Of incoming traffic.
const COARSE: &str = "the window scale is large, as the connection was opened without netnice. \
                      One that a program opens with netnice yields well";

fn together(had: &Had) -> String {
    let Had {
        at_least,
        sends,
        receives,
    } = *had;
    let now = format!("it sends {} and receives {}", bits(sends), bits(receives));
    let line = format!("  at least         {at_least} with all that has it too: {now}");
    let most = sends.max(receives);
    match most > 0 && most < at_least.bits() / 10 * 9 {
        true => format!(
            "{line}\n                   less than that: the path holds no more for it, or it has no more to send"
        ),
        false => line,
    }
}

/// Of attached cgroups and rules.
const UNSEEN: &str = "only root can see whether it is attached, or named by a rule";

/// What connections to come get.
fn promised(group: Group) -> String {
    let sends = format!("runs on {}", group.congestion_control());
    let receives = "yields with what it receives";
    let mut parts = Vec::new();
    if group.direction.sends() {
        parts.push(sends);
    }
    if group.direction.receives() {
        parts.push(receives.to_owned());
    }
    format!("what it opens by TCP from now on {}", parts.join(" and "))
}

#[derive(Debug, Serialize)]
pub struct OfCgroup {
    cgroup: PathBuf,
    causes: Vec<Cause>,
    detached: Vec<Detached>,
    sees_attached: bool,
    /// Numbers, names, and how nice each is by itself.
    processes: Vec<(u32, String, Option<Group>)>,
}

impl OfCgroup {
    pub fn look(cgroup: &Path) -> Result<Self> {
        let hierarchy = Hierarchy::find()?;
        let members = hierarchy.members_of(cgroup).into_iter();
        let (causes, detached) = reasons(&hierarchy, cgroup);
        Ok(Self {
            cgroup: hierarchy.below_root(cgroup),
            causes,
            detached,
            sees_attached: !State::is_hidden(&hierarchy),
            processes: members
                .filter_map(|pid| Some((pid, name_of(pid)?, niceness::of(pid))))
                .collect(),
        })
    }
}

impl Display for OfCgroup {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "cgroup /{}", self.cgroup.display())?;
        match (self.causes.is_empty(), self.sees_attached) {
            (_, false) => write!(f, "\n  {UNSEEN}")?,
            (true, true) => write!(f, "\n  in the foreground: neither it nor one that it is in is attached")?,
            (false, true) => (),
        }
        for cause in &self.causes {
            write!(f, "\n  {cause}")?;
        }
        for detached in &self.detached {
            write!(f, "\n  {detached}\n  {}", detached.returns())?;
        }
        write!(f, "\n  processes        {}", self.processes.len())?;
        for (pid, name, own) in &self.processes {
            if let Some(group) = own {
                write!(f, "\n                   {pid} ({name}): at level {group}, by itself")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
