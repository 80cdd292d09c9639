// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The process between the emulator and the command.
//!
//! It starts the command, passes signals to it, tells the emulator how it ended, and kills whatever the command left
//! running. It does so also when the emulator was killed, so that no process holds the namespace. Adopting orphans
//! (PR_SET_CHILD_SUBREAPER) and outliving the emulator need a process of its own.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};
use std::os::unix::process::CommandExt;
use std::process::{self, Command};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::prctl;
use nix::sys::signal::{kill, SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::{fork, getpid, getppid, pipe2, ForkResult, Pid};
use procfs::process::all_processes;

/// Signals passed on to the command.
pub const PASSED: [Signal; 6] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Signalled(i32),
    /// It could not be started; the error number.
    NotStarted(i32),
}

/// A running command, seen from the emulator.
#[derive(Debug)]
pub struct Supervisor {
    pid: Pid,
    reports: File,
}

/// How the supervisor says `End`: its variant and value, and how many processes it had to kill.
type Report = [i32; 3];

impl Supervisor {
    /// Starts a command in the current namespace, with the signals of `mask` blocked. Block `PASSED` before; call
    /// while single-threaded.
    pub fn start(command: &[OsString], environment: &[(&str, String)], mask: SigSet) -> Result<Supervisor> {
        let (reports, reporter) = pipe2(OFlag::O_CLOEXEC).context("cannot make a pipe")?;
        let emulator = getpid();
        let mut start = Command::new(&command[0]);
        start
            .args(&command[1..])
            .envs(environment.iter().map(|(name, value)| (name, value)));
        // SAFETY: two system calls, no allocation.
        unsafe {
            start.pre_exec(move || {
                mask.thread_set_mask()?;
                Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)
            })
        };
        // SAFETY: the process has one thread, so the child may go on as usual.
        match unsafe { fork() }.context("cannot start a process")? {
            ForkResult::Parent { child } => Ok(Supervisor {
                pid: child,
                reports: reports.into(),
            }),
            ForkResult::Child => {
                let report = supervise(emulator, reporter.as_raw_fd(), start);
                if report.is_err() {
                    process::exit(1);
                }
                process::exit(0)
            }
        }
    }

    /// Passes a signal to the command.
    pub fn signal(&self, signal: Signal) {
        // Fails only when the supervisor has ended, and then its report is there.
        kill(self.pid, signal).ok();
    }

    /// Waits for the command's end; the number of processes it had left running, all killed by now.
    pub fn wait(mut self) -> Result<(End, i32)> {
        let mut bytes = [0; 12];
        let read = self.reports.read_exact(&mut bytes);
        waitpid(self.pid, None).context("cannot wait for the command")?;
        read.context("the process that watched the command was killed; how the command ended is not known")?;
        let word = |at: usize| i32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let end = match word(0) {
            0 => End::Exited(word(4)),
            1 => End::Signalled(word(4)),
            _ => End::NotStarted(word(4)),
        };
        Ok((end, word(8)))
    }
}

impl AsFd for Supervisor {
    /// Readable once the command has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reports.as_fd()
    }
}

/// The set of signals that are waited for instead of acted on.
pub fn waited_for() -> SigSet {
    PASSED.into_iter().collect()
}

fn supervise(emulator: Pid, reporter: i32, mut start: Command) -> Result<()> {
    prctl::set_pdeathsig(Signal::SIGTERM)?;
    if getppid() != emulator {
        return Ok(());
    }
    prctl::set_child_subreaper(true)?;
    let mut reporter = close_all_but(reporter)?;
    let mut mask = waited_for();
    mask.add(Signal::SIGCHLD);
    mask.thread_block()?;
    let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC)?;

    let child = match start.spawn() {
        Ok(child) => Pid::from_raw(child.id() as i32),
        Err(e) => return Ok(report(&mut reporter, [2, e.raw_os_error().unwrap_or(libc::EINVAL), 0])?),
    };
    let end = watch(emulator, &signals, child)?;
    let killed = kill_descendants();
    if let Some(end) = end {
        match end {
            WaitStatus::Exited(_, code) => report(&mut reporter, [0, code, killed])?,
            WaitStatus::Signaled(_, signal, _) => report(&mut reporter, [1, signal as i32, killed])?,
            _ => {}
        }
    }
    Ok(())
}

/// Waits for the command to end, passing signals; `None` when the emulator went first.
fn watch(emulator: Pid, signals: &SignalFd, child: Pid) -> Result<Option<WaitStatus>> {
    loop {
        let Some(info) = signals.read_signal()? else {
            continue;
        };
        if getppid() != emulator {
            return Ok(None);
        }
        let signal = Signal::try_from(info.ssi_signo as i32)?;
        if signal != Signal::SIGCHLD {
            // What the terminal sends reaches the command without us.
            if info.ssi_code <= 0 {
                kill(child, signal).ok();
            }
            continue;
        }
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(status) if status.pid() == Some(child) => return Ok(Some(status)),
                Ok(WaitStatus::StillAlive) | Err(_) => break,
                Ok(_) => {}
            }
        }
    }
}

/// Kills all descendants: the children of each that dies become ours.
fn kill_descendants() -> i32 {
    let mut killed = 0;
    loop {
        for pid in children() {
            kill(pid, Signal::SIGKILL).ok();
        }
        match waitpid(None, None) {
            Ok(_) => killed += 1,
            Err(Errno::EINTR) => {}
            Err(_) => return killed,
        }
    }
}

fn children() -> Vec<Pid> {
    let Ok(all) = all_processes() else {
        return Vec::new();
    };
    // One that ends meanwhile needs nothing more.
    all.flatten()
        .filter_map(|process| process.stat().ok())
        .filter(|stat| stat.ppid == getpid().as_raw())
        .map(|stat| Pid::from_raw(stat.pid))
        .collect()
}

fn report(reporter: &mut File, report: Report) -> io::Result<()> {
    let bytes: Vec<u8> = report.into_iter().flat_map(i32::to_ne_bytes).collect();
    reporter.write_all(&bytes)
}

/// Closes what the emulator had open, its TUN devices above all: they must go when the emulator does.
fn close_all_but(reporter: i32) -> Result<File> {
    const KEPT: i32 = 3;
    // SAFETY: plain system calls; nothing in this process uses the other descriptors any more.
    unsafe {
        if reporter != KEPT {
            Errno::result(libc::dup3(reporter, KEPT, libc::O_CLOEXEC))?;
        }
        Errno::result(libc::syscall(libc::SYS_close_range, KEPT + 1, u32::MAX, 0))?;
        Ok(File::from_raw_fd(KEPT))
    }
}
