// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A program, started in the group it belongs to.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use netnice_loader::cgroup::Hierarchy;
use netnice_loader::group::Group;

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

fn exec(program: &OsString, arguments: &[OsString]) -> Result<Infallible, Error> {
    let error = Command::new(program).args(arguments).exec();
    let name = program.to_string_lossy().into_owned();
    Err(match error.kind() {
        ErrorKind::NotFound => Error::NotFound(name),
        _ => Error::CannotRun(name, error),
    })
}
