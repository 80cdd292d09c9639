// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use std::process::ExitCode;

use anyhow::{bail, Result};
use clap::Args;
use netnice_loader::cgroup::Hierarchy;
use netnice_output::print;

use crate::explanation::{OfCgroup, OfProcess, OfSocket};
use crate::json::print_json;
use crate::socket::Ends;

/// Tell how nice a process, a unit or a connection is, and why
///
/// Being nice comes from a process itself (started by 'netnice', moved by 'netnice -p', named by a rule, or
/// inherited from who started it) and from the cgroups that it is in ('netnicectl attach', or a rule); the nicer
/// counts. Connections are as their process was when it made them, unless they were moved since.
/// Run it as root to see what is others'.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  netnicectl explain 4711                       a process
  netnicectl explain backup.service             a unit, a container or another cgroup
  netnicectl explain :22                        connections with this port at either end
  netnicectl explain 192.0.2.1:40000-192.0.2.7:443
                                                one connection, its ends as ss(8) prints them, either first")]
pub struct Explain {
    #[arg(value_name = "PID|UNIT|CGROUP|SOCKET")]
    subject: String,
    /// For programs
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub fn run(self) -> Result<ExitCode> {
        let subject = self.subject.as_str();
        if let Ok(pid) = subject.parse() {
            let Some(found) = OfProcess::look(pid)? else {
                bail!("there is no process {pid}: it has ended, or never was.\nLook it up: 'pidof NAME' or 'ps'.");
            };
            return self.tell(&found, &found);
        }
        if let Ok(ends) = subject.parse::<Ends>() {
            let all = OfSocket::all(&ends)?;
            if all.is_empty() {
                bail!("no TCP connection of this network namespace has the ends {subject}.\nLook it up: 'ss -tn'.");
            }
            let lines: Vec<String> = all.iter().map(OfSocket::to_string).collect();
            return self.tell(&all, lines.join("\n"));
        }
        let found = OfCgroup::look(&Hierarchy::find()?.named(subject)?)?;
        self.tell(&found, &found)
    }

    fn tell(
        &self,
        found: &impl serde::Serialize,
        text: impl std::fmt::Display,
    ) -> Result<ExitCode> {
        if self.json {
            print_json(found)?;
        } else {
            print(text)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
