// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line.

use std::ffi::{OsStr, OsString};
use std::str::FromStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, ArgGroup, Command, CommandFactory, Parser};
use netnice_loader::catalogue::Catalogue;
use netnice_loader::group::Direction;

const AFTER: &str = "\
Levels:
  0  yields to everything that is not in the background
  1  yields to level 0 too
  2  yields to levels 0 and 1 too

Examples:
  sudo netnice rsync -a /data backup:/data   back up without slowing others down
  sudo netnice curl -O https://host/image    download: the server need know nothing of it
  sudo netnice -n 2 rclone sync /data far:   the same, also yielding to other background traffic
  netnice --quic=tcp chromium https://host/  QUIC does not yield: have it use TCP
  netnice git push                           the same without root, once netnice is up
  sudo netnice sh                            everything started from this shell yields
  sudo netnice -n 1 -p $(pidof transmission-daemon)
                                             what runs already, with the connections it has
  sudo netnice -n 1 -d -p $(pgrep -o nginx)  the master, and its workers
  netnice -n 0 -p $(pgrep rclone)            your own, without root
  sudo netnice -n off -p 4711                back to the foreground
  netnice                                    is this process in the background?
  netnice -p 4711                            is that one?
  netnice -l                                 the levels, and the papers behind them

Exit status:
  that of COMMAND, which replaces netnice, signals included; or
  0    the level was printed, or every process was moved
  125  netnice itself failed; with -p: for one process at least, the others were moved
  126  COMMAND was found but cannot be run
  127  COMMAND was not found";

/// As wide as a manual page has room for: lines that begin with spaces are not filled.
const WIDTH: usize = 70;

fn after_long() -> String {
    format!("{}\n\n{AFTER}", Catalogue::read().wrapped(WIDTH))
}

/// Run COMMAND so that its TCP traffic takes only what other traffic leaves.
///
/// COMMAND and everything it starts send and receive at full speed while the path is idle. They yield
/// within a few round trips when other traffic needs it. There is no rate to choose, the program
/// is not changed, and the other end needs nothing. Without COMMAND and -p, prints the level of this process:
/// 'foreground' when it has none.
///
/// Applies to connections that COMMAND opens or accepts. Connections it inherits are unchanged. netnice
/// is loaded into the kernel by root's first use after a start, or by 'netnicectl up'. From then on every
/// user may use it.
#[derive(Debug, Parser)]
#[command(
    name = "netnice",
    version,
    after_help = AFTER,
    after_long_help = after_long(),
    override_usage = "netnice [OPTIONS] COMMAND [ARG]...\n       netnice [OPTIONS] -p PID...\n       netnice -l [--json]\n       netnice",
    group = ArgGroup::new("subject").args(["pid", "command"])
)]
pub struct Cli {
    /// How much to yield: 0 (the default), 1 or 2; 'off' with -p ends it
    ///
    /// COMMAND never becomes less nice than the process that starts it: at a nicer level it stays there.
    /// With -p only root may make a process less nice, or end it, and move those of others.
    #[arg(
        short = 'n',
        long,
        value_name = "LEVEL",
        allow_negative_numbers = true,
        requires = "subject",
        value_parser = Levels,
        hide_possible_values = true
    )]
    pub level: Option<Asked>,

    /// Move processes that run already, with the connections they have; without -n, print their levels
    ///
    /// Connections go on without a break, and keep what is known of their path. Processes that these have
    /// started are not moved (see --descendants), what they start from now on is. A socket that processes share
    /// is moved for all of them. What connections in use receive begins to yield since Linux 6.12, and stops
    /// anywhere. Users may make their own processes nicer; of these, what connections in use receive takes
    /// root, or an administrator's 'netnicectl up --applications'.
    #[arg(
        short,
        long,
        value_name = "PID",
        num_args = 1..,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX))
    )]
    pub pid: Vec<u32>,

    /// With -n and -p: the processes that these have started too, and what those have, and so on
    ///
    /// Not those whose parent has ended: they no longer descend from it.
    #[arg(short, long, requires_all = ["pid", "level"], conflicts_with = "command")]
    pub descendants: bool,

    /// List the levels and the receivers, each with the paper or document that it follows
    #[arg(short, long, conflicts_with_all = ["level", "subject", "no_mark", "send_only", "receive_only"])]
    pub list: bool,

    /// With --list: for programs
    #[arg(long, requires = "list")]
    pub json: bool,

    /// Do not mark the packets as DSCP LE, for the rare network that drops or refuses them
    #[arg(long, requires = "subject")]
    pub no_mark: bool,

    /// Yield with what COMMAND sends only, not with what it receives
    #[arg(long, requires = "subject", conflicts_with = "receive_only")]
    pub send_only: bool,

    /// Yield with what COMMAND receives only, not with what it sends
    #[arg(long, requires = "subject")]
    pub receive_only: bool,

    /// Refuse COMMAND QUIC (UDP to port 443), so that it uses TCP, which yields: 'tcp'
    ///
    /// HTTP/3 runs over QUIC, where nothing yields; browsers and curl fall back to HTTP/2 at once.
    /// All other UDP passes. Without root it takes an administrator's 'netnicectl up --quic'.
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = ["tcp"],
        requires = "command",
        conflicts_with = "pid"
    )]
    pub quic: Option<String>,

    /// The program to run, with its arguments
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub command: Vec<OsString>,
}

impl Cli {
    /// The direction that is named, if one is.
    pub(crate) fn direction(&self) -> Option<Direction> {
        match (self.send_only, self.receive_only) {
            (true, _) => Some(Direction::Send),
            (_, true) => Some(Direction::Receive),
            _ => None,
        }
    }
}

/// What -n was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Level(i64),
    Off,
}

impl FromStr for Asked {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" {
            return Ok(Self::Off);
        }
        let number = text.parse().map(Self::Level);
        number.map_err(|_| "write 0, 1 or 2, or with -p: off")
    }
}

/// Names the levels to completions, and in the error about a wrong one.
#[derive(Clone)]
struct Levels;

impl TypedValueParser for Levels {
    type Value = Asked;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<Asked, clap::Error> {
        Asked::from_str.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let levels = Catalogue::read().levels.into_iter().filter_map(|entry| {
            let level = entry.level?.to_string();
            Some(PossibleValue::new(level).help(format!("{}: {}", entry.name, entry.about)))
        });
        let off = PossibleValue::new("off").help("with -p: back to the foreground");
        Some(Box::new(levels.chain([off])))
    }
}

/// For manual pages and completions.
pub fn command() -> Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(["netnice"].iter().chain(words))
    }

    #[test]
    fn a_command_keeps_its_own_options() {
        let cli = parse(&["-n", "1", "cmd", "-p", "2", "-n", "x"]).expect("valid");
        assert_eq!(cli.level, Some(Asked::Level(1)));
        assert!(cli.pid.is_empty());
        assert_eq!(cli.command.len(), 5);
    }

    #[test]
    fn processes_on_either_side() {
        for words in [["-n", "off", "-p", "1", "2"], ["-p", "1", "2", "-n", "off"]] {
            let cli = parse(&words).expect("valid");
            assert_eq!(cli.level, Some(Asked::Off));
            assert_eq!(cli.pid, [1, 2]);
        }
    }

    #[test]
    fn a_missing_level_names_the_levels() {
        for words in [&["-n"][..], &["cmd", "--level"], &["-p", "1", "-n"]] {
            let said = match parse(words) {
                Err(error) => error.to_string(),
                Ok(cli) => format!("{:?}", cli.command),
            };
            let expected = if words[0] == "cmd" { "--level" } else { "0, 1, 2, off" };
            assert!(said.contains(expected), "{words:?}: {said}");
        }
    }

    #[test]
    fn help_tells_of_every_algorithm() {
        let help = command().render_long_help().to_string();
        for name in [
            "netnice",
            "netnice1",
            "netnice2",
            "nicer0",
            "nicer1",
            "nicer2",
            "tide",
            "vulture",
            "rledbat",
            "nnledbat",
            "nnledbatpp",
            "nnlp",
        ] {
            let line = help.lines().find(|l| l.split_whitespace().take(2).any(|w| w == name));
            assert!(line.is_some(), "{name}: {help}");
        }
    }

    #[test]
    fn wrong_ones() {
        for words in [
            &["-n", "1"][..],
            &["-n", "high", "cmd"],
            &["-n"],
            &["-l", "cmd"],
            &["-l", "-p", "1"],
            &["--json"],
            &["-p"],
            &["-p", "0"],
            &["-p", "cmd"],
            &["-p", "4294967296"],
            &["-d", "-p", "1"],
            &["-d", "-n", "1", "cmd"],
            &["--no-mark"],
            &["--send-only", "--receive-only", "cmd"],
            &["--quic", "udp", "cmd"],
            &["--quic=tcp", "-n", "1", "-p", "1"],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
