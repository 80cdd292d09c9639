// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use netnice_loader::catalogue::Catalogue;

use crate::names::Names;

const AFTER: &str = "\
Exit status:
  0  done; for status: up; for doctor: all that is needed is there
  1  failed; for doctor: something needed is missing
  2  the command line is wrong
  3  for status: not up, or not completely";

/// As wide as a manual page has room for: lines that begin with spaces are not filled.
const WIDTH: usize = 70;

fn algorithms() -> String {
    Catalogue::read().wrapped(WIDTH)
}

fn after_long() -> String {
    format!("{}\n\n{AFTER}", algorithms())
}

/// Administer netnice: load, inspect, tune and unload its kernel objects.
///
/// Nothing runs in the background: what 'up' loads is pinned in the kernel and stays until 'down' or the
/// next boot. 'netnice COMMAND' run by root loads by itself, so that 'up' is only needed to do it early or
/// with other options.
#[derive(Debug, Parser)]
#[command(name = "netnicectl", version, after_help = AFTER, after_long_help = after_long())]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Load netnice into the kernel; repairs and replaces whatever it finds
    ///
    /// Registers the congestion controls of the levels 0, 1 and 2, which are 'nice', 'nice1' and 'nice2', and
    /// makes the cgroups that 'netnice' uses. May be repeated:
    /// what is already as asked stays untouched. After an unfinished up or down, or an upgrade, the
    /// remains are removed and everything is loaded anew; connections that already yield go on.
    Up {
        /// Register further algorithms of the laboratory, separated by commas
        #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Names::comparison())]
        with: Vec<String>,
        /// Do not mark background packets as DSCP LE on this machine
        #[arg(long)]
        no_mark: bool,
        /// Let every program have connections of its own yield with what they receive, by setsockopt()
        ///
        /// Puts a program on the root of the cgroups, which looks at every segment that arrives on this
        /// machine and lets it pass; 'netnice -p' does the same when it is first needed. Stays until down.
        #[arg(long)]
        applications: bool,
        /// Name each step on standard error when it is done
        #[arg(short, long)]
        verbose: bool,
    },
    /// Take everything out of the kernel again
    ///
    /// Connections that yield go on yielding until they end. Processes in the background return to the
    /// foreground for what they connect from then on.
    Down {
        /// Name each step on standard error when it is done
        #[arg(short, long)]
        verbose: bool,
    },
    /// Tell what is loaded, who is in the background and what it did
    Status {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Check all that netnice needs from this machine; for each: why, and what to do
    Doctor {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Show the parameters of the loaded algorithms, and which one receives
    Show {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Change parameters of a loaded algorithm, at once and until down
    ///
    /// 'set receiver algorithm=NAME' chooses what connections run that yield with what they receive, live
    /// ones too; 'off' gives their windows back to the kernel.
    #[command(after_help = algorithms())]
    Set {
        /// The algorithm, 'nice' say, or 'receiver'
        #[arg(value_parser = Names::settable(), hide_possible_values = true)]
        name: String,
        /// One or more of the parameters that 'show' lists
        #[arg(required = true, value_name = "KEY=VALUE", value_parser = change)]
        changes: Vec<(String, String)>,
    },
    /// Write manual pages or shell completions of all commands
    #[command(hide = true)]
    Generate {
        kind: Kind,
        /// Where to; made if missing
        dir: PathBuf,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    Man,
    Completions,
}

fn change(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        <Cli as clap::CommandFactory>::command().debug_assert();
        netnice::command().debug_assert();
    }

    fn help(verb: &str) -> String {
        let mut command = <Cli as clap::CommandFactory>::command();
        let verb = command.find_subcommand_mut(verb).expect("a verb");
        verb.render_long_help().to_string()
    }

    #[test]
    fn up_names_what_it_loads_for_comparison() {
        let (help, all) = (help("up"), Catalogue::read());
        for entry in all.comparison {
            assert!(help.contains(&format!("- {}:", entry.name)), "{help}");
        }
        assert!(!help.contains("tide"), "{help}");
    }

    #[test]
    fn set_names_the_receivers() {
        let help = help("set");
        for entry in Catalogue::read().receivers {
            assert!(help.contains(&format!(" {} ", entry.name)), "{help}");
        }
    }

    #[test]
    fn names_nobody_has_heard_of_are_the_loaders_to_refuse() {
        for words in [&["up", "--with", "bogus"][..], &["set", "bogus", "a=1"]] {
            let words = [&["netnicectl"][..], words].concat();
            assert!(Cli::try_parse_from(words).is_ok());
        }
    }

    #[test]
    fn changes() {
        assert_eq!(change("a=1"), Ok(("a".into(), "1".into())));
        assert!(change("a").is_err());
    }
}
