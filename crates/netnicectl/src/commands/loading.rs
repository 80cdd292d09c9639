// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Into the kernel and out of it.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use netnice_loader::rules::Applied;
use netnice_loader::settings::State;
use netnice_loader::{down, rules, up, Outcome, Removed, UpOptions};
use netnice_output::{complain, print};

use super::policy;
use crate::shared::{follow, Names};

/// Load netnice into the kernel
///
/// Registers the congestion controls of the levels 0, 1 and 2: 'netnice', 'netnice1' and 'netnice2'. Makes the cgroups
/// that 'netnice' uses. May be repeated: what is already as asked is unchanged. After an interrupted up or down, or an
/// upgrade, the remains are removed and everything is loaded anew; connections that yield go on. Applies the rules in
/// /etc/netnice/policy.toml, if there are any: policy.toml(5).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo netnicectl up
  sudo netnicectl up --quic    also let users block QUIC")]
pub struct Up {
    /// Also register algorithms for comparison: 'netnice --list'
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Names::comparison())]
    with: Vec<String>,
    /// Do not mark background packets as DSCP LE on this machine
    #[arg(long)]
    no_mark: bool,
    /// Let applications put single downloads in the background
    ///
    /// They choose by setsockopt(). Attaches a program to the root of the cgroups, which every setsockopt() of this
    /// machine passes. 'netnice -p' does the same when it first needs it. Stays until 'down'.
    #[arg(long)]
    applications: bool,
    /// Let users block QUIC: netnice --quic=tcp
    ///
    /// Attaches programs to the root of the cgroups, which every connect() of this machine passes, and every datagram of
    /// a socket that is not connected. A first 'sudo netnice --quic=tcp' does the same. Stays until 'down'.
    #[arg(long)]
    quic: bool,
    /// Print each step to standard error
    #[arg(short, long)]
    verbose: bool,
}

impl Up {
    pub fn run(self) -> Result<ExitCode> {
        let options = UpOptions {
            with: self.with,
            mark: !self.no_mark,
            applications: self.applications,
            quic: self.quic,
        };
        let outcome = up(&options, &mut follow(self.verbose))?;
        print(told_up(&outcome))?;
        if let Some(why) = State::read().and_then(|state| state.hindered) {
            complain(format_args!("only root can use it: {why}"));
        }
        let held = !rules::current().is_empty();
        // All else is up: a mistake in the file is to be said, not to leave a machine without.
        match rules::apply_file() {
            Ok(Some(applied)) if held || is_worth_telling(&applied) => policy::tell(&applied)?,
            Ok(_) => {}
            Err(why) => complain(why),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A file without rules, as it is delivered, is no policy.
fn is_worth_telling(applied: &Applied) -> bool {
    applied.rules > 0 || applied.switched.processes > 0 || applied.switched.why().is_some()
}

fn told_up(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Loaded => "up".to_owned(),
        Outcome::AlreadyUp => "already up".to_owned(),
        Outcome::Extended(new) => format!("up for {} too", new.join(" and ")),
        Outcome::Repaired(defects) => {
            format!("up again; what was there was replaced: {}", defects.join("; "))
        }
    }
}

/// Unload netnice from the kernel
///
/// Open sockets go on. They get back the congestion control, marks, priority and window clamp that they had, or that
/// their program has set since. Processes in the background return to the foreground.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo netnicectl down
  sudo netnicectl down --verbose")]
pub struct Down {
    /// Print each step to standard error
    #[arg(short, long)]
    verbose: bool,
}

impl Down {
    pub fn run(self) -> Result<ExitCode> {
        print(told_down(&down(&mut follow(self.verbose))?))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn told_down(removed: &Removed) -> String {
    match (removed.anything, removed.returned) {
        (false, _) => "already down".to_owned(),
        (true, 0) => "down".to_owned(),
        (true, 1) => "down; 1 process is in the foreground again".to_owned(),
        (true, n) => format!("down; {n} processes are in the foreground again"),
    }
}

#[cfg(test)]
mod tests {
    use netnice_loader::attachments::SwitchCounts;

    use super::*;

    #[test]
    fn a_policy_without_rules_is_none() {
        assert!(!is_worth_telling(&Applied::default()));
        let rules = Applied {
            rules: 1,
            ..Applied::default()
        };
        assert!(is_worth_telling(&rules));
        let switched = SwitchCounts {
            processes: 1,
            ..SwitchCounts::default()
        };
        assert!(is_worth_telling(&Applied {
            switched,
            ..Applied::default()
        }));
    }
}
