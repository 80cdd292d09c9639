// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! -p: processes that run already, and the connections they have.

use std::collections::HashSet;
use std::io::{stdout, ErrorKind, IsTerminal};

use netnice_loader::attachments;
use netnice_loader::causes::Cause;
use netnice_loader::cgroup::Hierarchy;
use netnice_loader::facts::privileged;
use netnice_loader::floor::{self, Floor};
use netnice_loader::group::Group;
use netnice_loader::live::{self, Target};
use netnice_loader::niceness::{self, Heirs, Refusal};
use netnice_output::{complain, print};
use procfs::process::{all_processes, StatFlags};
use procfs::ProcError;
use rustix::io::Errno;

use crate::error::not_nicer;
use crate::launch::load;
use crate::level::described;
use crate::{level, Cli, Error, LevelOption};

/// Every process that can be moved is; the others are what the error tells.
pub(crate) fn run(cli: &Cli) -> Result<(), Error> {
    let level = match cli.level {
        Some(LevelOption::Level(number)) => Some(level::checked(number)?),
        Some(LevelOption::Off) => None,
        None => return each(&cli.pid, &mut describe),
    };
    let mut sockets = 0;
    let mut one = |pid: u32| -> Result<(), Error> {
        let process = Process::look(pid)?;
        let choose = |level| level::choose_for(process.group, level, cli.no_mark, cli.direction());
        let to = level.map(choose);
        permitted(&process, to)?;
        sockets += place(&process, to, cli.heirs(), cli.at_least)?;
        check_not_held(&process, to, attachments::in_effect(process.pid))
    };
    if cli.descendants {
        each(&cli.pid, &mut |pid| family(pid, &mut one))?;
    } else {
        each(&cli.pid, &mut one)?;
    }
    if sockets == 0 && level.is_some() && stdout().is_terminal() {
        print(without_sockets(&cli.pid)).map_err(Error::Print)?;
    }
    Ok(())
}

/// That a process has no TCP socket: said on a terminal alone.
fn without_sockets(pids: &[u32]) -> String {
    match pids {
        [pid] => format!(
            "process {pid} has no TCP socket now; TCP connections that it opens from now on yield.\n\
             See what it has: 'netnicectl explain {pid}'."
        ),
        _ => "none of these processes has a TCP socket now; TCP connections that they open from now on yield.\n\
              See what one has: 'netnicectl explain PID'."
            .to_owned(),
    }
}

fn describe(pid: u32) -> Result<(), Error> {
    print(described(Process::look(pid)?.group)).map_err(Error::Print)
}

fn each(pids: &[u32], one: &mut dyn FnMut(u32) -> Result<(), Error>) -> Result<(), Error> {
    several(pids.iter().filter_map(|pid| one(*pid).err()).collect())
}

fn several(mut failed: Vec<Error>) -> Result<(), Error> {
    match failed.len() {
        0 => Ok(()),
        1 => Err(failed.remove(0)),
        _ => Err(Error::Several(failed)),
    }
}

/// A process, and what it has started. Each before those below it: what it starts meanwhile inherits, and what it had
/// started before that is in the list the next time.
fn family(pid: u32, one: &mut dyn FnMut(u32) -> Result<(), Error>) -> Result<(), Error> {
    let pid = Process::look(pid)?.pid; // a thread stands for its process
    let mut failed = Vec::new();
    match one(pid) {
        Err(why @ Error::Held { .. }) => failed.push(why), // its children may have a level by themselves
        done => done?,
    }
    let mut seen = HashSet::from([pid]);
    loop {
        let found = children(&seen);
        if found.is_empty() {
            return several(failed);
        }
        for child in found {
            seen.insert(child);
            match one(child) {
                // It has ended, is nicer already, or is held as its parent is.
                Ok(()) | Err(Error::NoProcess(_) | Error::LessNice(..) | Error::Held { .. }) => (),
                Err(why) => failed.push(why),
            }
        }
    }
}

/// Of these, without those that are among them.
fn children(parents: &HashSet<u32>) -> Vec<u32> {
    let all = all_processes().into_iter().flatten().flatten();
    let number = |process: procfs::process::Process| {
        let stat = process.stat().ok()?;
        let pid = stat.pid.unsigned_abs();
        let new = parents.contains(&stat.ppid.unsigned_abs()) && !parents.contains(&pid);
        new.then_some(pid)
    };
    all.filter_map(number).collect()
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
        Some(now) if level::less_nice(now, to) => Err(Error::LessNice(process.pid, name(), now.level)),
        _ => Ok(()),
    }
}

/// What its cgroup is attached to counts, whatever the process is by itself.
fn check_not_held(process: &Process, to: Option<Group>, now: Option<Group>) -> Result<(), Error> {
    let Some(now) = now.filter(|now| level::less_nice(*now, to)) else {
        return Ok(());
    };
    let causes = Cause::of_process(process.pid);
    let mut held: Vec<String> = causes.iter().map(Cause::held).collect();
    if held.is_empty() {
        held.push(format!("See why: 'sudo netnicectl explain {}'.", process.pid));
    }
    Err(Error::Held {
        pid: process.pid,
        name: process.name.clone(),
        level: now.level,
        held: held.join("\n"),
    })
}

/// The process first, so that what it opens meanwhile is as asked; then the sockets it has. Those are looked at also
/// where the process is already: they may be from before, or from before a down. How many there are.
fn place(process: &Process, to: Option<Group>, heirs: Heirs, at_least: Option<Floor>) -> Result<usize, Error> {
    if at_least.is_some() && !privileged() {
        return Err(Error::FloorOfRunning);
    }
    if let Some(group) = to {
        load(group)?;
    }
    match niceness::set(process.pid, to, heirs) {
        Ok(()) if privileged() => join(process, None)?, // what put it into a cgroup of ours no longer speaks
        Ok(()) => (),
        Err(Refusal::Unanswered) if heirs == Heirs::None => return Err(Error::OnlyWithChildren),
        Err(Refusal::Unanswered) => join(process, to)?,
        Err(why) => return Err(not_nicer(why)),
    }
    if let Some(rate) = at_least.filter(|_| to.is_some()) {
        rate.ask().and_then(|()| floor::give(process.pid)).map_err(not_nicer)?;
    }
    let target = match privileged() {
        true => Target::of(to),
        false => Target::of(to).only_nicer(),
    };
    let done = live::switch(process.pid, &target)?;
    if let Some(reason) = done.reason {
        return Err(Error::Refused {
            pid: process.pid,
            refused: done.refused,
            all: done.refused + done.sockets,
            reason,
        });
    }
    if done.unaccepted > 0 {
        let (pid, many) = (process.pid, done.unaccepted);
        complain(format_args!(
            "process {pid}: could not change {many} connections that it has not accepted yet: \
                 it takes root to reach them."
        ));
    }
    let sockets = done.sockets + done.unaccepted;
    let Some(reason) = done.unadopted_reason else {
        return Ok(sockets);
    };
    let unadopted = Error::NotAdopted {
        pid: process.pid,
        unadopted: done.unadopted,
        reason: reason.to_string(),
    };
    if to.is_some_and(|group| group.direction.sends()) {
        complain(format_args!("{unadopted}\nWhat they send yields.")); // all else was done
        return Ok(sockets);
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

#[derive(Debug)]
pub(crate) struct Process {
    /// Of the process, also when one of its threads was named.
    pub pid: u32,
    pub name: String,
    /// Its real and its effective user.
    pub users: [u32; 2],
    pub kernel: bool,
    /// How nice it is, in whatever way.
    pub group: Option<Group>,
    /// What its cgroup has it be.
    pub cgroup: Option<Group>,
}

impl Process {
    pub(crate) fn look(pid: u32) -> Result<Self, Error> {
        let failed = |why| match why {
            ProcError::NotFound(_) => Error::NoProcess(pid),
            _ => Error::Hidden(pid, why),
        };
        let number = i32::try_from(pid).map_err(|_| Error::NoProcess(pid))?;
        let process = procfs::process::Process::new(number).map_err(failed)?;
        let status = process.status().map_err(failed)?;
        if status.state.starts_with(['Z', 'X']) {
            return Err(Error::NoProcess(pid));
        }
        // procfs's own way to them refuses all where it does not know one.
        let flags = StatFlags::from_bits_truncate(process.stat().map_err(failed)?.flags);
        let cgroup = Group::of_process(&process).map_err(failed)?;
        let pid = status.tgid.unsigned_abs();
        Ok(Self {
            pid,
            name: status.name,
            users: [status.ruid, status.euid],
            kernel: flags.contains(StatFlags::PF_KTHREAD),
            group: attachments::in_effect(pid),
            cgroup,
        })
    }
}

#[cfg(test)]
mod tests {
    use netnice_loader::group::Direction;

    use super::*;

    #[test]
    fn this_process_and_none() {
        let me = Process::look(std::process::id()).expect("it runs");
        assert_eq!(me.pid, std::process::id());
        assert!(!me.kernel);
        assert!(matches!(Process::look(i32::MAX as u32), Err(Error::NoProcess(_))));
    }

    #[test]
    fn what_a_cgroup_holds_is_not_as_asked() {
        let me = Process::look(std::process::id()).expect("it runs");
        let group = |level| Some(Group::new(level, true, Direction::Both));
        for (to, now, held) in [
            (None, None, false),
            (None, group(0), true),
            (group(0), group(0), false),
            (group(0), group(1), true),
            (group(2), group(1), false),
        ] {
            assert_eq!(check_not_held(&me, to, now).is_err(), held, "{to:?} {now:?}");
        }
    }

    #[test]
    fn a_thread_stands_for_its_process_whatever_its_name() {
        let look = || {
            let thread = rustix::thread::gettid().as_raw_pid();
            Process::look(thread.unsigned_abs()).expect("it runs")
        };
        let named = std::thread::Builder::new().name("2 (a ) b) S".into());
        let seen = named.spawn(look).expect("a thread").join();
        let seen = seen.expect("no panic");
        assert_eq!(seen.pid, std::process::id());
        assert_eq!(seen.name, "2 (a ) b) S");
        assert!(!seen.kernel);
    }
}
