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

/// Put units, containers and programs in the background by rules
///
/// The rules are in a file: policy.toml(5). What a rule names is in the background from its start; 'apply' reaches what
/// runs already, with its open connections. 'netnicectl up' applies /etc/netnice/policy.toml, and so does netnice.service
/// at boot. Rules last until 'down'.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  netnicectl policy check           show what each rule means, and matches now
  sudo netnicectl policy apply      apply /etc/netnice/policy.toml")]
pub struct Policy {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Apply the rules of a file, and end all others
    ///
    /// Cgroups that only an earlier rule had put in the background return to the foreground with their connections.
    /// Cgroups attached by 'netnicectl attach' are unchanged. A program that a rule has made nice stays so until it
    /// ends, as with nice(1). No connection is interrupted.
    #[command(after_help = "\
Examples:
  sudo netnicectl policy apply
  sudo netnicectl policy apply ./policy.toml")]
    Apply(Apply),
    /// Show what each rule of a file means and matches; change nothing
    #[command(after_help = "\
Examples:
  netnicectl policy check
  netnicectl policy check ./policy.toml")]
    Check(File),
    /// Show the rules that are applied, and what they match
    #[command(after_help = "\
Examples:
  sudo netnicectl policy show
  sudo netnicectl policy show --json")]
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct Apply {
    #[command(flatten)]
    file: File,
    /// Apply the rules in effect, not a file's
    ///
    /// When hours of rules begin or end. A timer of systemd, named netnice-hours, does it.
    #[arg(long, conflicts_with = "file")]
    again: bool,
}

#[derive(Debug, Args)]
struct File {
    /// The rules
    #[arg(value_name = "FILE", default_value = rules::FILE)]
    file: PathBuf,
}

impl Policy {
    pub fn run(self) -> Result<ExitCode> {
        match self.what {
            What::Apply(Apply { again: true, .. }) => tell(&rules::apply(&rules::holding()?)?)?,
            What::Apply(Apply { file, .. }) => apply(&rules::read(&file.file)?)?,
            What::Check(File { file }) => check(&rules::read(&file)?)?,
            What::Show { json } => show(json)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn apply(written: &[Written]) -> Result<()> {
    for (rule, warning) in written.iter().filter_map(|rule| Some((rule, rule.warning.as_ref()?))) {
        complain(format_args!("line {}: {}: {warning}", rule.line, rule.text));
    }
    let rules: Vec<Rule> = written.iter().flat_map(|w| w.means.clone()).collect();
    tell(&rules::apply(&rules)?)
}

/// What became of it; `up` applies rules, too.
pub(super) fn tell(done: &Applied) -> Result<()> {
    print(Done(done))?;
    if done.by_hand > 0 {
        let number = done.by_hand;
        complain(format_args!(
            "attached by hand, and left as they are: {number} cgroups; 'netnicectl detach' ends that"
        ));
    }
    if let Some(why) = done.switched.why() {
        complain(why);
    }
    if !done.kept.is_empty() {
        complain(stay(&done.kept));
    }
    Ok(())
}

/// A line for what rules have changed, if they have.
struct Done<'a>(&'a Applied);

impl Display for Done<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Applied {
            rules,
            cgroups,
            switched,
            ..
        } = self.0;
        write!(f, "policy applied: rules: {rules}")?;
        if *cgroups > 0 {
            write!(f, "\n  units and other cgroups in the background by a rule: {cgroups}")?;
        }
        match switched.processes {
            0 => Ok(()),
            _ => write!(f, "\n  set to their level now: {switched}"),
        }
    }
}

/// Of processes that no rule names any more.
fn stay(kept: &[(u32, String)]) -> String {
    let names: Vec<String> = kept.iter().map(|(pid, name)| format!("{pid} ({name})")).collect();
    let pids: Vec<String> = kept.iter().map(|(pid, _)| pid.to_string()).collect();
    format!(
        "processes stay at the level of a former rule until they end: {}.\n\
         To return them: 'sudo netnice -n off -d -p {}'.",
        names.join(", "),
        pids.join(" ")
    )
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
                Subject::Command if !rule.inherit => ", when they begin, and those that run",
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

#[cfg(test)]
mod tests {
    use netnice_loader::attachments::SwitchCounts;

    use super::*;

    #[test]
    fn what_has_not_changed_has_no_line() {
        let mut applied = Applied {
            rules: 2,
            ..Applied::default()
        };
        assert_eq!(Done(&applied).to_string(), "policy applied: rules: 2");
        applied.cgroups = 1;
        applied.switched = SwitchCounts {
            processes: 2,
            sockets: 3,
            ..SwitchCounts::default()
        };
        assert_eq!(
            Done(&applied).to_string(),
            "policy applied: rules: 2\n  units and other cgroups in the background by a rule: 1\n  \
             set to their level now: processes: 2, their TCP sockets: 3"
        );
    }

    #[test]
    fn processes_that_stay_are_named_with_the_command() {
        let said = stay(&[(4711, "rsync".to_owned()), (4712, "curl".to_owned())]);
        assert!(said.contains("4711 (rsync), 4712 (curl)"), "{said}");
        assert!(said.ends_with("'sudo netnice -n off -d -p 4711 4712'."), "{said}");
    }
}
