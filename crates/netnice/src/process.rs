// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What /proc tells of another process.

use netnice_loader::attachments;
use netnice_loader::group::Group;
use procfs::process::StatFlags;
use procfs::ProcError;

use crate::Error;

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
    use super::*;

    #[test]
    fn this_process_and_none() {
        let me = Process::look(std::process::id()).expect("it runs");
        assert_eq!(me.pid, std::process::id());
        assert!(!me.kernel);
        assert!(matches!(
            Process::look(i32::MAX as u32),
            Err(Error::NoProcess(_))
        ));
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
