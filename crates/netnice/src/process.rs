// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What /proc tells of another process.

use std::fs;
use std::io::{self, ErrorKind};

use netnice_loader::cgroup::Group;

use crate::Error;

/// PF_KTHREAD of the kernel's sched.h.
const KERNEL_THREAD: u32 = 0x0020_0000;

#[derive(Debug)]
pub(crate) struct Process {
    /// Of the process, also when one of its threads was named.
    pub pid: u32,
    pub name: String,
    /// Its real and its effective user.
    pub users: [u32; 2],
    pub kernel: bool,
    pub group: Option<Group>,
}

impl Process {
    pub(crate) fn look(pid: u32) -> Result<Self, Error> {
        let failed = |e: io::Error| match e.kind() {
            ErrorKind::NotFound => Error::NoProcess(pid),
            _ if e.raw_os_error() == Some(libc::ESRCH) => Error::NoProcess(pid),
            _ => Error::Hidden(pid, e),
        };
        let read = |file| fs::read_to_string(format!("/proc/{pid}/{file}")).map_err(failed);
        let status = read("status")?;
        let unclear = || failed(io::Error::from(ErrorKind::InvalidData));
        if field(&status, "State").is_some_and(|state| state.starts_with(['Z', 'X'])) {
            return Err(Error::NoProcess(pid));
        }
        Ok(Self {
            pid: field(&status, "Tgid")
                .and_then(|id| id.parse().ok())
                .ok_or_else(unclear)?,
            name: field(&status, "Name").unwrap_or_default().to_owned(),
            users: users(&status).ok_or_else(unclear)?,
            kernel: flags(&read("stat")?).ok_or_else(unclear)? & KERNEL_THREAD != 0,
            group: Group::of_process(pid).map_err(failed)?,
        })
    }
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let of_name = |line: &'a str| line.strip_prefix(name)?.strip_prefix(':');
    status.lines().find_map(of_name).map(str::trim)
}

fn users(status: &str) -> Option<[u32; 2]> {
    let mut ids = field(status, "Uid")?.split_whitespace();
    Some([ids.next()?.parse().ok()?, ids.next()?.parse().ok()?])
}

// The ninth field; the second, a name in brackets, may hold anything.
fn flags(stat: &str) -> Option<u32> {
    let rest = stat.rsplit_once(')')?.1;
    rest.split_whitespace().nth(6)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_file() {
        let status = "Name:\tmy prog\nState:\tS (sleeping)\nTgid:\t7\nUid:\t1\t2\t3\t4\n";
        assert_eq!(field(status, "Name"), Some("my prog"));
        assert_eq!(field(status, "Tgid"), Some("7"));
        assert_eq!(field(status, "Pid"), None);
        assert_eq!(users(status), Some([1, 2]));
    }

    #[test]
    fn flags_behind_a_strange_name() {
        let stat = "2 (a ) b) S 0 0 0 0 -1 2129984 0 0";
        assert_eq!(flags(stat).map(|f| f & KERNEL_THREAD != 0), Some(true));
        assert_eq!(flags("2 (x) S"), None);
    }

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
    fn a_thread_stands_for_its_process() {
        let tid = std::thread::spawn(|| {
            // SAFETY: asks for a number.
            let tid = unsafe { libc::gettid() };
            Process::look(tid as u32).expect("it runs").pid
        });
        assert_eq!(tid.join().expect("no panic"), std::process::id());
    }
}
