// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! -p: processes that run already, and the connections they have.

use std::io::ErrorKind;

use netnice_loader::cgroup::Hierarchy;
use netnice_loader::facts::privileged;
use netnice_loader::group::Group;
use netnice_loader::live::{self, Target};
use netnice_loader::niceness::{self, Refusal};
use netnice_output::{complain, print};
use rustix::io::Errno;

use crate::error::not_nicer;
use crate::level::described;
use crate::loading::load;
use crate::process::Process;
use crate::{level, Asked, Cli, Error};

/// Every process that can be moved is; the others are what the error tells.
pub(crate) fn run(cli: &Cli) -> Result<(), Error> {
    let asked = match cli.level {
        Some(Asked::Level(asked)) => Some(Some(level::checked(asked)?)),
        Some(Asked::Off) => Some(None),
        None => None,
    };
    let one = |pid: u32| -> Result<(), Error> {
        let process = Process::look(pid)?;
        match asked {
            None => print(described(process.group)).map_err(Error::Print)?,
            Some(level) => {
                let to = level.map(|level| {
                    level::choose_for(process.group, level, cli.no_mark, cli.direction())
                });
                permitted(&process, to)?;
                place(&process, to)?;
            }
        }
        Ok(())
    };
    let mut failed: Vec<Error> = cli.pid.iter().filter_map(|pid| one(*pid).err()).collect();
    match failed.len() {
        0 => Ok(()),
        1 => Err(failed.remove(0)),
        _ => Err(Error::Several(failed)),
    }
}

/// As renice(1): one's own processes, and only towards the nicer side.
fn permitted(process: &Process, to: Option<Group>) -> Result<(), Error> {
    let name = || process.name.clone();
    if process.kernel {
        return Err(Error::KernelThread(process.pid, name()));
    }
    if privileged() {
        return Ok(());
    }
    let me = rustix::process::geteuid().as_raw();
    if !process.users.contains(&me) {
        return Err(Error::NotYours(process.pid, name()));
    }
    match process.group {
        Some(now) if level::less_nice(now, to) => {
            Err(Error::LessNice(process.pid, name(), now.level))
        }
        _ => Ok(()),
    }
}

/// The process first, so that what it opens meanwhile is as asked; then the sockets it has. Those are looked at also
/// where the process is already: they may be from before, or from before a down.
fn place(process: &Process, to: Option<Group>) -> Result<(), Error> {
    if let Some(group) = to {
        load(group)?;
    }
    if privileged() {
        match niceness::set(process.pid, to) {
            Ok(()) => join(process, None)?, // what put it into a cgroup of ours no longer speaks
            Err(Refusal::Unanswered) => join(process, to)?,
            Err(why) => return Err(not_nicer(why)),
        }
    } else {
        join(process, to)?;
    }
    let done = live::switch(process.pid, &Target::of(to))?;
    if let Some(reason) = done.reason {
        return Err(Error::Refused {
            pid: process.pid,
            refused: done.refused,
            all: done.refused + done.sockets,
            reason,
        });
    }
    let Some(reason) = done.unadopted_reason else {
        return Ok(());
    };
    let unadopted = Error::NotAdopted {
        pid: process.pid,
        unadopted: done.unadopted,
        reason: reason.to_string(),
    };
    if to.is_some_and(|group| group.direction.sends()) {
        complain(
            "netnice",
            format_args!("{unadopted}\nWhat they send yields."),
        ); // all else was done
        return Ok(());
    }
    Err(unadopted)
}

/// The process's cgroup is that of a group of netnice; none: the root, if it was in one.
fn join(process: &Process, to: Option<Group>) -> Result<(), Error> {
    if process.cgroup == to {
        return Ok(());
    }
    let hierarchy = Hierarchy::find()?;
    let dir = to.map_or_else(|| hierarchy.root().to_owned(), |group| hierarchy.dir(group));
    let placed = hierarchy.place(process.pid, to);
    placed.map_err(|e| match e.kind() {
        ErrorKind::PermissionDenied => Error::NotRoot(dir),
        _ if Errno::from_io_error(&e) == Some(Errno::SRCH) => Error::NoProcess(process.pid),
        _ => Error::Join(dir, e),
    })
}
