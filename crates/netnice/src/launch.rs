// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A program, started as nice as it should be.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use netnice_loader::cgroup::Hierarchy;
use netnice_loader::deadline::Deadline;
use netnice_loader::facts::privileged;
use netnice_loader::floor::Floor;
use netnice_loader::group::{Direction, Group};
use netnice_loader::niceness::{self, Heirs, Refusal};
use netnice_loader::{facts, is_up, quic, rules, up, Outcome, UpOptions};
use netnice_output::complain;

use crate::error::not_nicer;
use crate::{level, until, Error};

/// Puts this process into the background, and so the program that it becomes. Without `strict` the program is to run
/// where that cannot be, as with nice(1): then a line on standard error says so.
pub(crate) fn prepare(program: &OsStr, wanted: &Wanted, strict: bool) -> Result<(), Error> {
    let Err((missed, why)) = wanted.get() else {
        return Ok(());
    };
    if strict {
        return Err(why);
    }
    complain(format_args!(
        "'{}' {missed}: {}",
        program.to_string_lossy(),
        in_one_line(&why.to_string())
    ));
    Ok(())
}

/// What the command line asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub level: u32,
    pub no_mark: bool,
    pub direction: Direction,
    pub without_quic: bool,
    pub until: Option<Deadline>,
    pub heirs: Heirs,
    pub at_least: Option<Floor>,
}

impl Wanted {
    /// What the program lacks otherwise, and why.
    fn get(&self) -> Result<(), (&'static str, Error)> {
        let floored = self.begin_floor();
        self.enter().map_err(|why| ("runs unchanged", why))?;
        floored.map_err(|why| ("runs in the background, but without its floor (--at-least)", why))?;
        if self.without_quic {
            forgo_quic().map_err(|why| ("runs in the background, but may use QUIC", why))?;
        }
        Ok(())
    }

    /// Before this process is nice: afterwards it takes root.
    fn begin_floor(&self) -> Result<(), Error> {
        let Some(floor) = self.at_least else {
            return Ok(());
        };
        load(level::choose(
            niceness::current()?,
            self.level,
            self.no_mark,
            self.direction,
        ))?;
        floor.ask().map_err(|why| match why {
            Refusal::Other(error) if error.kind() == ErrorKind::PermissionDenied => Error::FloorOfNice,
            why => not_nicer(why),
        })
    }

    fn enter(&self) -> Result<(), Error> {
        let current = niceness::current()?;
        let target = level::choose(current, self.level, self.no_mark, self.direction);
        match self.until {
            Some(until) => load(target).and_then(|()| until::raise(target, self.heirs, until)),
            None => enter(current, target, self.heirs),
        }
    }
}

/// The first line of an error is what happened, and the last one what to do.
fn in_one_line(error: &str) -> String {
    let (what, more) = error.split_once('\n').unwrap_or((error, ""));
    let what = what.trim_end_matches([':', '.']);
    match more.lines().last() {
        Some(remedy) if !remedy.starts_with(' ') => format!("{what}. {remedy}"),
        Some(_) => format!("{what}. See what to do: 'netnicectl doctor'."),
        None => format!("{what}."),
    }
}

fn enter(current: Option<Group>, target: Group, heirs: Heirs) -> Result<(), Error> {
    load(target)?;
    if current == Some(target) {
        return Ok(());
    }
    match niceness::raise(target, heirs) {
        Ok(()) => Ok(()),
        Err(Refusal::Unanswered) if heirs == Heirs::None => Err(Error::OnlyWithChildren),
        Err(Refusal::Unanswered) if privileged() => join(target),
        Err(why) => Err(not_nicer(why)),
    }
}

fn forgo_quic() -> Result<(), Error> {
    if privileged() {
        quic::refuse()?;
    }
    niceness::forgo_quic(0).map_err(not_nicer)?;
    match quic::is_refused() {
        true => Ok(()),
        false => Err(Error::QuicPasses),
    }
}

/// If another program holds the root of the cgroups, the call has no answer. Root can be moved to a cgroup that yields.
fn join(target: Group) -> Result<(), Error> {
    let hierarchy = Hierarchy::find()?;
    let joined = hierarchy.join(target);
    joined.map_err(|e| Error::Join(hierarchy.dir(target), e))
}

/// Becomes the program; returns only when that cannot be.
pub(crate) fn exec(program: &OsStr, arguments: &[OsString]) -> Result<Infallible, Error> {
    let error = Command::new(program).args(arguments).exec();
    let name = program.to_string_lossy().into_owned();
    Err(match error.kind() {
        ErrorKind::NotFound => Error::NotFound(name, whose_path()),
        _ => Error::CannotRun(name, error),
    })
}

/// What was searched.
fn whose_path() -> &'static str {
    match rustix::process::geteuid().is_root() {
        true => "the PATH of root: under sudo it is not yours",
        false => "your PATH",
    }
}

/// Sees to it that the group is there and does something.
pub(crate) fn load(target: Group) -> Result<(), Error> {
    if privileged() {
        if !is_up(&Hierarchy::find()?, target) && up(&UpOptions::default(), &mut |_| ())? != Outcome::AlreadyUp {
            complain("loaded into the kernel, for the first time since it started ('netnicectl down' unloads it)");
            if let Err(why) = rules::apply_file() {
                complain(why);
            }
        }
    } else if !facts::congestion_controls()?.contains(&target.congestion_control()) {
        return Err(Error::NotLoaded);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_one_line() {
        for (error, line) in [
            ("it broke", "it broke."),
            ("it broke.\nMend it.", "it broke. Mend it."),
            ("it lacks:\n  a: x\n    What to do: y\nRun z.", "it lacks. Run z."),
            ("it broke\n  log", "it broke. See what to do: 'netnicectl doctor'."),
        ] {
            assert_eq!(in_one_line(error), line);
        }
    }
}
