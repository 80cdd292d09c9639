// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! COMMAND as a child: signals, exit status, terminal and job control as if it had replaced netnice.
//!
//! Both are in one process group. So what the terminal sends reaches COMMAND by itself, and what another process sends
//! to netnice is forwarded. netnice stops when COMMAND stops, so that a shell sees a stopped job.

use std::io;
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::ptr;
use std::time::Duration;

use libc::{c_int, pid_t, sigset_t};

const FORWARDED: [c_int; 9] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGCONT,
    libc::SIGWINCH,
];

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited(u8),
    Signalled(c_int),
}

impl End {
    fn of(status: c_int) -> Option<Self> {
        if libc::WIFEXITED(status) {
            return Some(Self::Exited(libc::WEXITSTATUS(status) as u8));
        }
        libc::WIFSIGNALED(status).then(|| Self::Signalled(libc::WTERMSIG(status)))
    }

    /// This process ends in the same way, without a dump of its own memory.
    pub(crate) fn repeat(self) -> ExitCode {
        let signal = match self {
            Self::Exited(code) => return code.into(),
            Self::Signalled(signal) => signal,
        };
        let none = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: system calls with values of this function; the process has one thread.
        unsafe {
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            libc::signal(signal, libc::SIG_DFL);
            let mut set = empty();
            libc::sigaddset(&mut set, signal);
            libc::raise(signal);
            libc::sigprocmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
        }
        (128u8.wrapping_add(signal as u8)).into()
    }
}

pub(crate) enum Event {
    Nothing,
    Ended(End),
}

pub(crate) struct Child {
    pid: pid_t,
    signals: sigset_t,
}

impl Child {
    /// `None` in the child, whose signals are as before.
    pub(crate) fn fork() -> io::Result<Option<Self>> {
        let mut signals = empty();
        for signal in FORWARDED.into_iter().chain([libc::SIGCHLD]) {
            // SAFETY: a set of this function.
            unsafe { libc::sigaddset(&mut signals, signal) };
        }
        let mut before = empty();
        // SAFETY: sets of this function.
        unsafe { libc::sigprocmask(libc::SIG_BLOCK, &signals, &mut before) };
        // A caller may ignore SIGCHLD, and then the kernel keeps no exit status.
        // SAFETY: no handler; the process has one thread, so the child may go on as usual.
        let (ignored, pid) = unsafe { (libc::signal(libc::SIGCHLD, libc::SIG_DFL), libc::fork()) };
        match pid {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // SAFETY: as it was.
                unsafe {
                    libc::signal(libc::SIGCHLD, ignored);
                    libc::sigprocmask(libc::SIG_SETMASK, &before, ptr::null_mut());
                }
                Ok(None)
            }
            pid => Ok(Some(Self { pid, signals })),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// Until it ends, but not for longer.
    pub(crate) fn wait(&mut self, longest: Duration) -> io::Result<Event> {
        let timeout = libc::timespec {
            tv_sec: longest.as_secs() as libc::time_t,
            tv_nsec: longest.subsec_nanos().into(),
        };
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: pointers to values of this function.
        let signal = unsafe { libc::sigtimedwait(&self.signals, info.as_mut_ptr(), &timeout) };
        match signal {
            -1 => return Ok(Event::Nothing), // time is up, or another signal was handled
            libc::SIGCHLD => return self.changed(),
            _ => {}
        }
        // SAFETY: zeros are a value of it, and the kernel has written over them.
        let code = unsafe { info.assume_init() }.si_code;
        if code != libc::SI_KERNEL || signal == libc::SIGCONT {
            self.signal(signal);
        }
        self.changed()
    }

    fn signal(&self, signal: c_int) {
        // SAFETY: a system call; the child has not been waited for, so the number is its own.
        unsafe { libc::kill(self.pid, signal) };
    }

    fn changed(&mut self) -> io::Result<Event> {
        let mut status = 0;
        // SAFETY: a pointer to a value of this function.
        match unsafe { libc::waitpid(self.pid, &mut status, libc::WNOHANG | libc::WUNTRACED) } {
            -1 => return Err(io::Error::last_os_error()),
            0 => return Ok(Event::Nothing),
            _ => {}
        }
        if libc::WIFSTOPPED(status) {
            // SAFETY: until the caller's shell goes on with the job.
            unsafe { libc::raise(libc::SIGSTOP) };
            self.signal(libc::SIGCONT);
        }
        Ok(End::of(status).map_or(Event::Nothing, Event::Ended))
    }
}

fn empty() -> sigset_t {
    let mut set = MaybeUninit::<sigset_t>::uninit();
    // SAFETY: sigemptyset() writes all of it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    }
}
