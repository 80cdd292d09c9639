// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! From the command line to the program it names, in the group it belongs to.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use netnice_loader::cgroup::{Direction, Group, Hierarchy};
use netnice_loader::facts::privileged;
use netnice_loader::{is_up, kernel, up, Outcome, UpOptions};
use netnice_output::{complain, print};

use crate::{level, list, moving, Asked, Cli, Error};

/// Returns only when there is no command, or it cannot be run.
pub fn run(cli: Cli) -> Result<(), Error> {
    if cli.list {
        return print(list::listed(cli.json)).map_err(Error::Print);
    }
    if !cli.pid.is_empty() {
        return moving::run(&cli);
    }
    let level = match cli.level {
        Some(Asked::Off) => return Err(Error::OffCommand),
        Some(Asked::Level(asked)) => level::checked(asked)?,
        None => 0,
    };
    let current = Group::current()?;
    let Some((program, arguments)) = cli.command.split_first() else {
        return print(described(current)).map_err(Error::Print);
    };
    let direction = direction(&cli).unwrap_or_default();
    enter(
        current,
        level::choose(current, level, cli.no_mark, direction),
    )?;
    match exec(program, arguments)? {}
}

/// What the command line says of it, if anything.
pub(crate) fn direction(cli: &Cli) -> Option<Direction> {
    match (cli.send_only, cli.receive_only) {
        (true, _) => Some(Direction::Send),
        (_, true) => Some(Direction::Receive),
        _ => None,
    }
}

pub(crate) fn described(current: Option<Group>) -> String {
    match current {
        None => "foreground".to_owned(),
        Some(group) => {
            let mark = if group.marked { "" } else { " unmarked" };
            let direction = match group.direction {
                Direction::Both => "",
                Direction::Send => " send only",
                Direction::Receive => " receive only",
            };
            format!("{}{mark}{direction}", group.level)
        }
    }
}

fn enter(current: Option<Group>, target: Group) -> Result<(), Error> {
    let hierarchy = Hierarchy::find()?;
    load(&hierarchy, target)?;
    if current == Some(target) {
        return Ok(());
    }
    let dir = hierarchy.dir(target);
    hierarchy.join(target).map_err(|e| match e.kind() {
        ErrorKind::PermissionDenied => Error::NotRoot(dir),
        _ => Error::Join(dir, e),
    })
}

/// Sees to it that the group is there and does something.
pub(crate) fn load(hierarchy: &Hierarchy, target: Group) -> Result<(), Error> {
    if privileged() {
        if !is_up(hierarchy, target)
            && up(&UpOptions::default(), &mut |_| ())? != Outcome::AlreadyUp
        {
            complain(
                "netnice",
                "loaded into the kernel, for the first time since it started ('netnicectl down' unloads it)",
            );
        }
    } else if !kernel::congestion_controls()?.contains(&target.congestion_control()) {
        return Err(Error::NotLoaded);
    }
    Ok(())
}

fn exec(program: &OsString, arguments: &[OsString]) -> Result<Infallible, Error> {
    let error = Command::new(program).args(arguments).exec();
    let name = program.to_string_lossy().into_owned();
    Err(match error.kind() {
        ErrorKind::NotFound => Error::NotFound(name),
        _ => Error::CannotRun(name, error),
    })
}
