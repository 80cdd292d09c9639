// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line, but for its subcommands: each has its own file.

use clap::Parser;

use crate::commands::Verb;
use crate::shared::algorithms;

const EXAMPLES: &str = "\
Examples:
  sudo netnicectl up          load netnice; then users need no rights
  sudo netnicectl top         show what yields";

/// For the manual page.
const MORE: &str = "\
Exit status:
  0  done; status: netnice is up; doctor: nothing is missing
  1  failed; doctor: something is missing
  2  wrong command line
  3  status: netnice is not up, or not completely

Files:
  /etc/netnice/policy.toml  the policy: policy.toml(5)
  /sys/fs/bpf/netnice       what is loaded
  /run/netnice              locks";

fn after_long() -> String {
    format!("{MORE}\n\n{}", algorithms())
}

/// Administer netnice: load, inspect, tune and unload it
///
/// No process of netnice keeps running: what 'up' loads stays in the kernel until 'down' or a reboot. 'netnice COMMAND'
/// run by root loads netnice by itself, so 'up' is needed only to load it earlier or with other options.
#[derive(Debug, Parser)]
#[command(name = "netnicectl", version, after_help = EXAMPLES, after_long_help = after_long())]
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
