// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What can go wrong, with the exit status of nice(1).

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use netnice_loader::niceness::Refusal;
use procfs::ProcError;

/// netnice itself failed.
pub const FAILED: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no level {0}: levels are 0, 1 and 2, or low, lower and lowest.\nWithout -n it is 0.")]
    NoSuchLevel(i64),
    #[error("'off' is no level to run a command at: a command started in the background stays there.\nMove a process to the foreground: 'sudo netnice -n off -p PID'.")]
    OffCommand,
    #[error("netnice is not loaded, and only root can load it.\nLoad it: 'sudo netnicectl up'.")]
    NotLoaded,
    #[error("netnice is loaded, but without root it cannot be used on this machine.\nSee why: 'sudo netnicectl status'. Use 'sudo netnice sudo -u $USER …'.")]
    Hindered,
    #[error("on this machine a program can only be in the background with what it starts.\nLeave out --self, or see why: 'sudo netnicectl status'.")]
    OnlyWithChildren,
    #[error("QUIC blocking is off, and only root can turn it on.\nTurn it on: 'sudo netnicectl up --quic'.")]
    QuicPasses,
    #[error(
        "there is no room: as many processes are nice as netnice keeps account of.\n'netnicectl status' counts them."
    )]
    NoRoom,
    #[error("it is in the background already, and only root may give it a floor there.\nStart it from the foreground, or with sudo.")]
    FloorOfNice,
    #[error("only root can give a running process a floor.\nTry 'sudo netnice …', or start the program with 'netnice --at-least'.")]
    FloorOfRunning,
    #[error("this process cannot become nicer: {0}.\nRun 'netnicectl doctor' to see what is wrong.")]
    NotNicer(io::Error),
    #[error("only root can move a process into the background: {}: permission denied.\nTry 'sudo netnice …', or start the program with 'netnice …', which needs no rights.", .0.display())]
    NotRoot(PathBuf),
    #[error("cannot join {}: {}.\nRun 'netnicectl doctor' to see what is wrong.", .0.display(), .1)]
    Join(PathBuf, io::Error),
    #[error("there is no process {0}: it has ended, or never was.\nLook it up: 'pidof NAME' or 'ps'.")]
    NoProcess(u32),
    #[error("cannot look at process {0}: {1}")]
    Hidden(u32, ProcError),
    #[error("process {0} ({1}) is a thread of the kernel: it opens no connections that could be moved.\nName the program whose connections you mean.")]
    KernelThread(u32, String),
    #[error("process {0} ({1}) belongs to another user: only root may move it.\nTry 'sudo netnice …'.")]
    NotYours(u32, String),
    #[error("process {0} ({1}) is at level {2}: only root can make it less nice, as with nice(1).\nRun the same command with sudo, or start the program again.")]
    LessNice(u32, String, u32),
    #[error("process {pid} ({name}) stays at level {level}, with all of its cgroup.\n{held}")]
    Held {
        pid: u32,
        name: String,
        level: u32,
        held: String,
    },
    #[error("process {pid}: could not change {refused} of its {all} TCP sockets: {reason}.\nThe process has been moved; its new connections are as asked. Repeat it to try again.")]
    Refused {
        pid: u32,
        refused: usize,
        all: usize,
        reason: io::Error,
    },
    #[error("process {pid}: incoming traffic of {unadopted} of its TCP sockets cannot yield: {reason}.")]
    NotAdopted { pid: u32, unadopted: usize, reason: String },
    #[error("cannot print what was asked for: {0}")]
    Print(io::Error),
    #[error("{}", listed(.0))]
    Several(Vec<Error>),
    #[error(transparent)]
    Loader(#[from] netnice_loader::Error),
    #[error("'{0}': no such command.\nCheck the spelling and {1}.")]
    NotFound(String, &'static str),
    #[error("cannot run '{0}': {1}")]
    CannotRun(String, io::Error),
}

impl Error {
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Error::NotFound(..) => NOT_FOUND,
            Error::CannotRun(..) => CANNOT_RUN,
            _ => FAILED,
        }
        .into()
    }
}

fn listed(errors: &[Error]) -> String {
    let lines: Vec<String> = errors.iter().map(Error::to_string).collect();
    lines.join("\nnetnice: ")
}

pub(crate) fn not_nicer(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Unanswered => Error::Hindered,
        Refusal::NoRoom => Error::NoRoom,
        Refusal::NoProcess(pid) => Error::NoProcess(pid),
        Refusal::Other(why) => Error::NotNicer(why),
    }
}
