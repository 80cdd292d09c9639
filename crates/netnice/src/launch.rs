// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A program, started as nice as it should be.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use netnice_loader::cgroup::Hierarchy;
use netnice_loader::facts::privileged;
use netnice_loader::group::Group;
use netnice_loader::niceness::{self, Refusal};
use netnice_loader::{facts, is_up, quic, rules, up, Outcome, UpOptions};
use netnice_output::complain;

use crate::error::not_nicer;
use crate::Error;

/// Becomes the program; returns only when that cannot be.
pub(crate) fn launch(
    program: &OsString,
    arguments: &[OsString],
    (current, target): (Option<Group>, Group),
    without_quic: bool,
) -> Result<Infallible, Error> {
    enter(current, target)?;
    if without_quic {
        forgo_quic()?;
    }
    exec(program, arguments)
}

fn enter(current: Option<Group>, target: Group) -> Result<(), Error> {
    load(target)?;
    if current == Some(target) {
        return Ok(());
    }
    match niceness::raise(target) {
        Ok(()) => Ok(()),
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

fn exec(program: &OsString, arguments: &[OsString]) -> Result<Infallible, Error> {
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
