// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Cgroups into the background and back.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use netnice_loader::attachments::{attach, detach, SwitchCounts};
use netnice_loader::catalogue::LEVELS;
use netnice_loader::cgroup::Hierarchy;
use netnice_loader::group::{level, Direction, Group};
use netnice_output::{complain, print};

fn after() -> String {
    format!("{LEVELS}\n\n{EXAMPLES}")
}

const EXAMPLES: &str = "\
Examples:
  sudo netnicectl attach backup.service
  sudo netnicectl attach -n 2 system.slice/docker-3f0a.scope";

/// Put a unit, a container or another cgroup in the background
///
/// All processes in it yield: their open connections at once, new ones from the start. No process changes its cgroup,
/// and the cgroup keeps its limits and filters. If a process has a level of its own, the nicer one counts. Lasts until
/// 'detach', 'down', or the end of the cgroup.
#[derive(Debug, Args)]
#[command(after_help = after())]
pub struct Attach {
    /// A unit's name, or the path of a cgroup
    #[arg(value_name = "UNIT|CGROUP")]
    name: String,
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
pub(super) fn tell(done: &str, counts: &SwitchCounts) -> Result<ExitCode> {
    print(format_args!("{done}; {counts}"))?;
    if let Some(why) = counts.why() {
        complain(why);
    }
    Ok(ExitCode::SUCCESS)
}

/// Undo 'attach' of a unit, a container or another cgroup
///
/// Its open connections get the level that their processes have without it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo netnicectl detach backup.service
  sudo netnicectl detach system.slice/docker-3f0a.scope")]
pub struct Detach {
    /// A unit's name, or the path of a cgroup
    #[arg(value_name = "UNIT|CGROUP")]
    name: String,
}

impl Detach {
    pub fn run(self) -> Result<ExitCode> {
        let cgroup = Hierarchy::find()?.named(&self.name)?;
        if let Some(counts) = detach(&cgroup)? {
            return tell("detached", &counts);
        }
        print("it was not attached")?;
        Ok(ExitCode::SUCCESS)
    }
}
