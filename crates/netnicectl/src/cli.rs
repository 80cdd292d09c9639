// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line, but for its subcommands: each has its own file.

use clap::Parser;

use crate::commands::Verb;
use crate::shared::algorithms;

const AFTER: &str = "\
Exit status:
  0  done; for status: up; for doctor: all that is needed is there
  1  failed; for doctor: something needed is missing
  2  the command line is wrong
  3  for status: not up, or not completely";

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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use netnice_loader::catalogue::Catalogue;

    use super::*;

    fn help(verb: &str) -> String {
        let mut command = Cli::command();
        let verb = command.find_subcommand_mut(verb).expect("a verb");
        verb.render_long_help().to_string()
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
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
}
