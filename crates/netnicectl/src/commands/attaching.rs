// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Cgroups into the background and back.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use netnice_loader::attachments::{attach, detach, SwitchCounts};
use netnice_loader::catalogue::LEVELS;
use netnice_loader::causes::Detached;
use netnice_loader::cgroup::Hierarchy;
use netnice_loader::floor::Floor;
use netnice_loader::group::{level, Direction, Group};
use netnice_output::{complain, print};

use crate::naming::{fetching, named, Named};

fn after() -> String {
    format!("{LEVELS}\n\n{EXAMPLES}")
}

const EXAMPLES: &str = "\
Examples:
  sudo netnicectl attach backup.service
  sudo netnicectl attach -n 2 docker:web";

/// Put a unit, a container or another cgroup in the background
///
/// All processes in it yield: their open connections at once, new ones from the start. No process changes its cgroup,
/// and the cgroup keeps its limits and filters. If a process has a level of its own, the nicer one counts. Lasts until
/// 'detach', 'down', or the end of the cgroup.
#[derive(Debug, Args)]
#[command(after_help = after())]
pub struct Attach {
    /// A unit, a cgroup, docker:NAME, podman:NAME, containerd:ID
    ///
    /// A unit's name or the path of a cgroup; a container by its name, or with containerd by its id or twelve digits of
    /// it. For a rootless container slirp4netns or pasta sends: that process is put in the background too, and with it
    /// all containers of its network.
    #[arg(value_name = "UNIT|CGROUP|CONTAINER")]
    name: String,
    /// Only what the daemon NAME fetches: containerd, dockerd
    ///
    /// The cgroup of the daemon of that name. Containers are in cgroups of their own, and stay as they are.
    #[arg(long)]
    pulls: bool,
    /// Level: 0, 1, 2 or low, lower, lowest
    #[arg(short = 'n', long, default_value = "0", value_parser = level)]
    level: u32,
    /// Only what it sends yields
    #[arg(long, conflicts_with = "receive_only")]
    send_only: bool,
    /// Only what it receives yields
    #[arg(long)]
    receive_only: bool,
    /// Do not mark its packets as DSCP LE
    #[arg(long)]
    no_mark: bool,
    /// Block QUIC (UDP to port 443), so that it uses TCP
    ///
    /// As 'netnice --quic=tcp' does for a command.
    #[arg(long, value_name = "WHAT", value_parser = ["tcp"])]
    quic: Option<String>,
    /// Not below RATE: 5mbit, 500kbit, 1MB
    ///
    /// RATE is a floor, in each direction: while all its connections have less together, they do not yield.
    #[arg(long, value_name = "RATE")]
    at_least: Option<Floor>,
}

impl Attach {
    pub fn run(self) -> Result<ExitCode> {
        let direction = match (self.send_only, self.receive_only) {
            (true, _) => Direction::Send,
            (_, true) => Direction::Receive,
            _ => Direction::Both,
        };
        let group = Group::new(self.level, !self.no_mark, direction);
        let found = find(&self.name, self.pulls)?;
        let counts = attach(&found.cgroup, group, self.quic.is_some(), self.at_least)?;
        tell("attached", &counts)?;
        helped(&found, Some(group))
    }
}

fn find(name: &str, pulls: bool) -> Result<Named> {
    match pulls {
        true => fetching(name),
        false => named(name),
    }
}

/// The helper of a rootless container goes with it.
fn helped(found: &Named, to: Option<Group>) -> Result<ExitCode> {
    if let Some(helper) = &found.helper {
        let place = if to.is_some() { "background" } else { "foreground" };
        let (pid, name) = (helper.pid, &helper.name);
        print(format_args!(
            "the container is rootless: process {pid} ({name}) sends for all containers of its network"
        ))?;
        tell(&format!("{name} is in the {place} too"), &helper.put(to)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What became of what runs there.
fn tell(done: &str, counts: &SwitchCounts) -> Result<()> {
    print(format_args!("{done}; {counts}"))?;
    if let Some(why) = counts.why() {
        complain(why);
    }
    Ok(())
}

/// Undo 'attach' of a unit, a container or another cgroup
///
/// Its open connections get the level that their processes have without it. If a rule names it, the next 'policy
/// apply' or 'up' puts it in the background again, and so does its next start.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo netnicectl detach backup.service
  sudo netnicectl detach docker:web")]
pub struct Detach {
    /// A unit, a cgroup, docker:NAME, podman:NAME, containerd:ID
    #[arg(value_name = "UNIT|CGROUP|CONTAINER")]
    name: String,
    /// As for 'attach': containerd, dockerd
    #[arg(long)]
    pulls: bool,
}

impl Detach {
    pub fn run(self) -> Result<ExitCode> {
        let found = find(&self.name, self.pulls)?;
        let Some(counts) = detach(&found.cgroup)? else {
            print("it was not attached")?;
            return still_named(&found);
        };
        tell("detached", &counts)?;
        helped(&found, None)?;
        still_named(&found)
    }
}

/// A rule that names it puts it in the background again.
fn still_named(found: &Named) -> Result<ExitCode> {
    if let Some(detached) = Detached::at(&Hierarchy::find()?, &found.cgroup) {
        complain(format_args!("{detached}.\n{}", detached.returns()));
    }
    Ok(ExitCode::SUCCESS)
}
