// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Cgroups into the background and back.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use netnice_loader::attachments::{attach, detach, Reached};
use netnice_loader::cgroup::Hierarchy;
use netnice_loader::group::{Direction, Group, HIGHEST_LEVEL};
use netnice_output::{complain, print};

/// Put a unit, a container or another cgroup into the background, with all that runs in it
///
/// No process is moved: the cgroup keeps its limits and filters, and so do the processes in it and below.
/// The connections that they have yield at once, those to come when they are made. Of a process that is
/// nice by itself the nicer of the two counts. It lasts until 'detach', 'down', or the cgroup's end.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  netnicectl attach backup.service              a unit, by its name
  netnicectl attach -n 2 system.slice/docker-3f….scope
  netnicectl attach --receive-only /sys/fs/cgroup/machine.slice")]
pub struct Attach {
    /// A unit's name, or the path of a cgroup
    #[arg(value_name = "UNIT|CGROUP")]
    name: String,
    /// How much to yield: 0, 1 or 2
    #[arg(short = 'n', long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=i64::from(HIGHEST_LEVEL)))]
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
    /// Refuse it QUIC (UDP to port 443), so that it uses TCP, which yields: 'tcp'
    ///
    /// As 'netnice --quic=tcp' does with a command.
    #[arg(long, value_name = "WHAT", value_parser = ["tcp"])]
    quic: Option<String>,
}

impl Attach {
    pub fn run(self) -> Result<ExitCode> {
        let direction = match (self.send_only, self.receive_only) {
            (true, _) => Direction::Send,
            (_, true) => Direction::Receive,
            _ => Direction::Both,
        };
        let group = Group::new(self.level, !self.no_mark, direction);
        let cgroup = Hierarchy::find()?.named(&self.name)?;
        tell("attached", &attach(&cgroup, group, self.quic.is_some())?)
    }
}

/// What became of what runs in the cgroup.
pub(super) fn tell(done: &str, reached: &Reached) -> Result<ExitCode> {
    print(format_args!("{done}; {reached}"))?;
    if let Some(why) = reached.why() {
        complain(why);
    }
    Ok(ExitCode::SUCCESS)
}

/// Take back what 'attach' did to a unit, a container or another cgroup
///
/// The connections of what runs in it are as nice then as their processes are by themselves.
#[derive(Debug, Args)]
pub struct Detach {
    /// A unit's name, or the path of a cgroup
    #[arg(value_name = "UNIT|CGROUP")]
    name: String,
}

impl Detach {
    pub fn run(self) -> Result<ExitCode> {
        let cgroup = Hierarchy::find()?.named(&self.name)?;
        if let Some(reached) = detach(&cgroup)? {
            return tell("detached", &reached);
        }
        print("it was not attached")?;
        Ok(ExitCode::SUCCESS)
    }
}
