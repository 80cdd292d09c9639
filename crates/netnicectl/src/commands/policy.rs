// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use netnice_loader::rules::{self, Applied, Named, Rule, Subject, Written};
use netnice_output::{complain, print};
use serde::Serialize;

use crate::shared::print_json;

const AFTER: &str = "\
The file:
  [[rule]]                      # one of unit, slice, container, cgroup and command
  unit = \"restic*.service\"      # the last part of a cgroup's path; one '*' at most, which stands for anything
  level = 1                     # 0, unless said: yields to the foreground; 1, 2: to lower levels too
  direction = \"send\"            # or \"receive\": only that yields; both, unless said
  mark = false                  # no DSCP LE on its packets
  quic = \"tcp\"                  # refused QUIC (UDP to port 443), so that it uses TCP, which yields

  [[rule]]
  slice = \"backup.slice\"        # with all that is in it

  [[rule]]
  container = \"*\"               # by id: those of docker, podman, containerd and CRI-O, with systemd's cgroups

  [[rule]]
  cgroup = \"/kubepods.slice/kubepods-besteffort.slice\"    # the whole path below the root

  [[rule]]
  command = \"rsync\"             # programs of this name, without folders

Of several rules that name the same all count: it yields where any has it yield.";

/// Units, containers and programs that are always in the background: rules in a file
///
/// What a rule names is in the background from when it begins, and what is there already is reached by 'apply',
/// with the connections it has. 'netnicectl up' applies /etc/netnice/policy.toml, if there is one; so does
/// netnice.service at boot. Rules last until 'down'.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct Policy {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Have these rules hold, and no others
    ///
    /// Cgroups that only a rule had put into the background, and none does any more, return to the foreground with
    /// their connections. What 'attach' has attached by hand stays as it is. A program that a rule has made nice stays
    /// so until it ends, as with nice(1). No connection is interrupted.
    Apply(File),
    /// Tell what each rule of a file means, and what it names now; changes nothing
    Check(File),
    /// Tell the rules that hold, and what they name now
    Show {
        /// For programs
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct File {
    #[arg(value_name = "FILE", default_value = rules::FILE)]
    file: PathBuf,
}

impl Policy {
    pub fn run(self) -> Result<ExitCode> {
        match self.what {
            What::Apply(File { file }) => apply(&rules::read(&file)?)?,
            What::Check(File { file }) => check(&rules::read(&file)?)?,
            What::Show { json } => show(json)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn apply(written: &[Written]) -> Result<()> {
    let rules: Vec<Rule> = written.iter().flat_map(|w| w.means.clone()).collect();
    tell(&rules::apply(&rules)?)
}

/// What became of it; `up` applies rules, too.
pub(super) fn tell(done: &Applied) -> Result<()> {
    print(format_args!(
        "policy applied: rules: {}, cgroups that they put into the background: {}; of what changed, {}",
        done.rules, done.cgroups, done.reached
    ))?;
    if done.by_hand > 0 {
        let number = done.by_hand;
        complain(format_args!(
            "attached by hand, and left as they are: {number} cgroups; 'netnicectl detach' ends that"
        ));
    }
    if let Some(why) = done.reached.why() {
        complain(why);
    }
    Ok(())
}

fn check(written: &[Written]) -> Result<()> {
    for rule in written {
        let line = rule.line;
        print(format_args!("line {line}: {}", rule.text))?;
        print(Means(&rule.means))?;
        if let Some(warning) = &rule.warning {
            print(format_args!("    warning: {warning}"))?;
        }
        print(Names(&rules::named(&rule.means)?))?;
    }
    Ok(print(format_args!("rules: {}, all valid", written.len()))?)
}

#[derive(Serialize)]
struct Holds {
    #[serde(flatten)]
    rule: Rule,
    cgroups: Vec<PathBuf>,
    processes: Vec<u32>,
}

fn show(json: bool) -> Result<()> {
    let holding = rules::holding()?;
    if holding.is_empty() && !json {
        return Ok(print("no rule holds")?);
    }
    let mut all = Vec::new();
    for rule in holding {
        let named = rules::named(std::slice::from_ref(&rule))?;
        if json {
            all.push(Holds {
                rule,
                cgroups: named.cgroups,
                processes: named.processes.into_iter().map(|(pid, _)| pid).collect(),
            });
        } else {
            print(&rule)?;
            print(Names(&named))?;
        }
    }
    if json {
        print_json(&all)?;
    }
    Ok(())
}

/// What a rule stands for, in words.
struct Means<'a>(&'a [Rule]);

impl Display for Means<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, rule) in self.0.iter().enumerate() {
            let end = if i + 1 < self.0.len() { "\n" } else { "" };
            let after = match rule.subject {
                Subject::Unit | Subject::Cgroup => ", with all that runs in them",
                Subject::Command => ", when they begin, whatever they start, and those that run",
            };
            write!(f, "  {rule}{after}{end}")?;
        }
        Ok(())
    }
}

struct Names<'a>(&'a Named);

impl Display for Names<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let cgroups = self.0.cgroups.iter().map(|path| path.display().to_string());
        let named = |(pid, name): &(u32, String)| format!("process {pid} ({name})");
        let processes = self.0.processes.iter().map(named);
        let all: Vec<_> = cgroups.chain(processes).collect();
        match all.len() {
            0 => f.write_str("    now: nothing"),
            _ => write!(f, "    now: {}", all.join("\n         ")),
        }
    }
}
