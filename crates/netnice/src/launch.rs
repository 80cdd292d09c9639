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
use netnice_loader::live::receiving_for_all;
use netnice_loader::niceness::{self, Refusal};
use netnice_output::complain;

use crate::loading::load;
use crate::Error;

/// Becomes the program; returns only when that cannot be.
pub(crate) fn launch(
    program: &OsString,
    arguments: &[OsString],
    current: Option<Group>,
    target: Group,
) -> Result<Infallible, Error> {
    enter(current, target)?;
    exec(program, arguments)
}

fn enter(current: Option<Group>, target: Group) -> Result<(), Error> {
    load(target)?;
    if current == Some(target) {
        return Ok(());
    }
    if !privileged() {
        return raise(target);
    }
    let hierarchy = Hierarchy::find()?;
    let joined = hierarchy.join(target);
    joined.map_err(|e| Error::Join(hierarchy.dir(target), e))
}

/// Without rights: this process stays where it is, and becomes nicer itself.
fn raise(target: Group) -> Result<(), Error> {
    let receives = !target.direction.receives() || receiving_for_all();
    if !receives && !target.direction.sends() {
        return Err(Error::NotReceiving);
    }
    niceness::raise(target).map_err(|refusal| match refusal {
        Refusal::Unanswered => Error::Hindered,
        Refusal::NoRoom => Error::NoRoom,
        Refusal::Other(why) => Error::NotNicer(why),
    })?;
    if !receives {
        complain("netnice", "what it sends yields, what it receives does not: that takes 'netnicectl up --applications' by the administrator ('--send-only' says that you know)");
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
