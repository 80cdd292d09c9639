// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line.

use std::ffi::{OsStr, OsString};
use std::str::FromStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, ArgGroup, Command, CommandFactory, Parser};
use netnice_loader::catalogue::{Catalogue, Entry, LEVELS};
use netnice_loader::deadline::Deadline;
use netnice_loader::floor::Floor;
use netnice_loader::group::{level_named, Direction, LEVEL_NAMES};
use netnice_loader::moment;
use netnice_loader::niceness::Heirs;

const EXAMPLES: &str = "\
Examples:
  sudo netnice rsync -a /data backup:/data  run a backup in the background
  sudo netnice -n 1 -p 4711                 move a running process";

/// For the manual page.
const MORE: &str = "\
More examples:
  sudo netnice curl -O https://host/image    download a file
  sudo netnice -n lowest rclone sync /d far: also yield to other backups
  netnice git push                           no root after 'netnicectl up'
  netnice --quic=tcp chromium https://host/  QUIC does not yield: use TCP
  netnice --report rsync -a /data far:/data  say how it yielded
  netnice --strict ./night-job               never run it in the foreground
  netnice --until 08:00 restic backup /srv   at night in the background
  netnice --for 2h rclone sync /d far:       then at full speed
  netnice --at-least 1mbit restic backup /d  it ends on a busy line, too
  sudo netnice --self podman pull IMAGE      not the containers it starts
  sudo netnice sh                            all that this shell starts
  sudo netnice -n 1 -d -p $(pgrep -o nginx)  a process and its children
  netnice -n 0 -p $(pgrep rclone)            your own process, without root
  sudo netnice -n off -p 4711                back to the foreground
  netnice                                    the level of this shell
  netnice -p 4711                            the level of a process

Exit status:
  COMMAND's, which replaces netnice, signals included; or
  0    the level was printed, or every process was moved
  125  netnice failed; with -p, for at least one process
  126  COMMAND was found but cannot be run
  127  COMMAND was not found

Algorithms:
  'netnice --list' prints these lists.";

/// As wide as a manual page has room for: lines that begin with spaces are not filled.
const WIDTH: usize = 70;

fn after() -> String {
    format!("{LEVELS}\n\n{EXAMPLES}")
}

fn after_long() -> String {
    format!("{MORE}\n\n{}", Catalogue::read().wrapped(WIDTH))
}

/// Run COMMAND in the background of the network
///
/// The TCP traffic of COMMAND and its children uses the path while it is idle. It backs off within about ten round
/// trips when other traffic needs the path. There is no rate to choose, COMMAND is not changed, and the other end needs
/// nothing. Without COMMAND and -p, netnice prints the level of this process: 'foreground', or a number.
///
/// Applies to connections that COMMAND opens or accepts. Connections it inherits are unchanged. Root's first use after a
/// start loads netnice into the kernel, and so does 'netnicectl up'. After that no user needs rights.
///
/// COMMAND cannot be put in the background if netnice is not loaded or rights are missing. netnice then says so in one
/// line on standard error and runs COMMAND unchanged, as nice(1) does. With --strict it fails.
#[derive(Debug, Parser)]
#[command(
    name = "netnice",
    version,
    after_help = after(),
    after_long_help = after_long(),
    override_usage = "netnice [OPTIONS] COMMAND [ARG]...\n       netnice [OPTIONS] -p PID...\n       netnice -l [--json]\n       netnice",
    group = ArgGroup::new("subject").args(["pid", "command"]),
    group = ArgGroup::new("printed").args(["list", "report"])
)]
pub struct Cli {
    /// Level: 0, 1, 2 or low, lower, lowest; with -p also off
    ///
    /// 'off' returns processes to the foreground. COMMAND never becomes less nice than the process that starts it. With
    /// -p only root may make a process less nice, or move the processes of other users.
    #[arg(
        short = 'n',
        long,
        value_name = "LEVEL",
        allow_negative_numbers = true,
        requires = "subject",
        value_parser = Levels,
        hide_possible_values = true
    )]
    pub level: Option<LevelOption>,

    /// Move running processes; without -n: print their levels
    ///
    /// Their open connections move too, without a break, and keep what is known of their path. Processes that they
    /// start later follow; for those started before see --descendants. A socket that processes share moves for all of
    /// them. Downloads on open connections begin to yield on Linux 6.12 and newer, and stop on any. Users may make their
    /// own processes nicer. For downloads on open connections this takes root, or 'netnicectl up --applications'.
    #[arg(
        short,
        long,
        value_name = "PID",
        num_args = 1..,
        value_parser = crate::pid::number
    )]
    pub pid: Vec<u32>,

    /// With -n and -p: also processes that these started
    ///
    /// And those that these have started, and so on. Processes whose parent has ended are not found.
    #[arg(short, long, requires_all = ["pid", "level"], conflicts_with = "command")]
    pub descendants: bool,

    /// Fail if COMMAND cannot be put in the background
    ///
    /// Without this COMMAND runs unchanged, after a warning.
    #[arg(long, requires = "command", conflicts_with = "pid")]
    pub strict: bool,

    /// Only this program: what it starts is in the foreground
    ///
    /// For programs that start services, sessions or programs of others, as podman, tmux and Steam do. Children that
    /// execute no program of their own yield with it. A program that is in the background with its children already
    /// stays so.
    #[arg(long = "self", requires = "subject", conflicts_with = "descendants")]
    pub only_self: bool,

    /// Do not mark packets as DSCP LE
    ///
    /// For a network that drops marked packets. They also get no priority of background in this host's own queues.
    #[arg(long, requires = "subject")]
    pub no_mark: bool,

    /// Only what COMMAND sends yields
    #[arg(long, requires = "subject", conflicts_with = "receive_only")]
    pub send_only: bool,

    /// Only what COMMAND receives yields
    #[arg(long, requires = "subject")]
    pub receive_only: bool,

    /// Block QUIC (UDP to port 443), so that COMMAND uses TCP
    ///
    /// QUIC does not yield; browsers and curl fall back to HTTP/2 at once. All other UDP passes. Without root this takes
    /// 'netnicectl up --quic'.
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = ["tcp"],
        requires = "command",
        conflicts_with = "pid"
    )]
    pub quic: Option<String>,

    /// In the background until TIME: 08:00, '2026-12-01 08:00'
    ///
    /// Local time, or with an offset from UTC: 2026-12-01T08:00:00Z. Then COMMAND and its children are in the foreground,
    /// with their open connections. The end follows the wall clock, also if the clock is set. A process named
    /// netnice-until waits for it. QUIC stays blocked.
    #[arg(
        long,
        value_name = "TIME",
        requires = "command",
        conflicts_with_all = ["pid", "lasting"],
        value_parser = moment::until
    )]
    pub until: Option<Deadline>,

    /// In the background for DURATION: 90m, 2h30m
    ///
    /// Time that passes, while the machine is suspended too, whatever the wall clock does. Otherwise as --until.
    #[arg(
        long = "for",
        value_name = "DURATION",
        requires = "command",
        conflicts_with = "pid",
        value_parser = moment::lasting
    )]
    pub lasting: Option<Deadline>,

    /// Not below RATE: 5mbit, 500kbit, 1MB
    ///
    /// RATE is a floor: while the connections of COMMAND and its children have less together, they do not yield. Then
    /// they share the path as other connections do; above RATE they use what is idle. So a backup ends. The rate is
    /// that of each direction. It takes root with -p, and for a netnice that was itself started in the background.
    #[arg(long, value_name = "RATE", requires = "subject")]
    pub at_least: Option<Floor>,

    /// When COMMAND ends, say in one line how it yielded
    ///
    /// On standard error: connections that yielded, bytes each way, for how long they saw a queue or starved. Starved is
    /// data that waits a second without an acknowledgement. Only root sees the queue of a download. If none yielded,
    /// netnice names the process that really sends, as a daemon, an ssh master or a FUSE mount. COMMAND becomes a child of
    /// netnice, with its terminal, signals and exit status. Connections that last less than 10 to 200 ms are missed, and
    /// those of another network namespace.
    #[arg(long, requires = "command", conflicts_with = "pid")]
    pub report: bool,

    /// List levels, receivers and algorithms
    #[arg(short, long, conflicts_with_all = ["level", "subject", "no_mark", "send_only", "receive_only"])]
    pub list: bool,

    /// With --list or --report: print JSON
    #[arg(long, requires = "printed")]
    pub json: bool,

    /// The program to run, with its arguments
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub command: Vec<OsString>,
}

impl Cli {
    /// What inherits.
    pub(crate) fn heirs(&self) -> Heirs {
        Heirs::of_alone(self.only_self)
    }

    /// The direction that is named, if one is.
    pub(crate) fn direction(&self) -> Option<Direction> {
        match (self.send_only, self.receive_only) {
            (true, _) => Some(Direction::Send),
            (_, true) => Some(Direction::Receive),
            _ => None,
        }
    }
}

/// The value of -n.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelOption {
    Level(i64),
    Off,
}

impl FromStr for LevelOption {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" {
            return Ok(Self::Off);
        }
        let named = level_named(text).map(i64::from);
        let level = named.or_else(|| text.parse().ok()).map(Self::Level);
        level.ok_or("write 0, 1, 2, low, lower or lowest, or with -p: off")
    }
}

/// Names the levels in completions, and in the message about a missing one.
#[derive(Clone)]
struct Levels;

impl TypedValueParser for Levels {
    type Value = LevelOption;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<LevelOption, clap::Error> {
        LevelOption::from_str.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let all = Catalogue::read().levels;
        let about = |entry: &Entry| entry.about.split(';').next().unwrap_or_default().to_owned();
        let numbers = all
            .iter()
            .filter_map(|entry| Some((entry.level?.to_string(), about(entry))));
        let names = all
            .iter()
            .zip(LEVEL_NAMES)
            .map(|(entry, name)| (name.to_owned(), about(entry)));
        let off = ("off".to_owned(), "with -p: back to the foreground".to_owned());
        let values: Vec<_> = numbers.chain(names).chain([off]).collect();
        Some(Box::new(
            values
                .into_iter()
                .map(|(value, about)| PossibleValue::new(value).help(about)),
        ))
    }
}

/// For manual pages and completions.
pub fn command() -> Command {
    Cli::command()
}

#[cfg(test)]
mod tests;
