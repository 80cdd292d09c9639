// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line.

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

const AFTER: &str = "\
Examples:
  sudo netnice rsync -a /data backup:/data   back up without anybody noticing
  sudo netnice sudo -u $USER git push        the same with your own rights
  sudo netnice sh                            everything started from this shell yields
  netnice                                    is this process in the background?

Exit status:
  that of COMMAND, which replaces netnice, signals included; or
  125  netnice itself failed
  126  COMMAND was found but cannot be run
  127  COMMAND was not found";

/// Run COMMAND so that its TCP traffic takes only what nobody else on the path wants.
///
/// COMMAND and everything it starts send at full speed while the path is idle and get out of the way
/// within a few round trips when anybody else needs it. There is no rate to choose, the program is not
/// changed, and the other end needs nothing. Without COMMAND, prints the level of this process:
/// 'foreground' when it has none.
///
/// Connections that COMMAND opens or accepts are concerned; those it inherits stay as they are. netnice
/// is loaded into the kernel by the first use after a start, or by 'netnicectl up'.
#[derive(Debug, Parser)]
#[command(name = "netnice", version, after_help = AFTER)]
pub struct Cli {
    /// How much to yield; 0 is the only level so far. A process already at a nicer level stays there
    #[arg(
        short = 'n',
        long,
        value_name = "LEVEL",
        allow_negative_numbers = true,
        requires = "command"
    )]
    pub level: Option<i64>,

    /// Do not mark the packets as DSCP LE, for the rare network that drops or refuses them
    #[arg(long, requires = "command")]
    pub no_mark: bool,

    /// Yield with what COMMAND receives too: downloads from servers that know nothing of netnice
    #[arg(long, requires = "command", conflicts_with = "receive_only")]
    pub receive: bool,

    /// Yield with what COMMAND receives only, not with what it sends
    #[arg(long, requires = "command")]
    pub receive_only: bool,

    /// The program to run, with its arguments
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub command: Vec<OsString>,
}

/// For manual pages and completions.
pub fn command() -> clap::Command {
    Cli::command()
}
