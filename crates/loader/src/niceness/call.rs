// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The call of `algorithms/niceness/call.h`: a read of a sysctl, with the wish in the offset.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::io::Errno;

use super::{bits, group};
use crate::group::Group;
use crate::shared::{
    nn_verb, NN_CALL_ANSWERS, NN_CALL_ASK, NN_CALL_DONE, NN_CALL_FILE, NN_CALL_NO_QUIC,
    NN_CALL_RAISE, NN_CALL_SET,
};

const DONE: u32 = NN_CALL_DONE as u32;

/// Why a process did not become nicer.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Netnice is not loaded, or could not be attached for everybody.
    #[error("nobody answers the call")]
    Unanswered,
    #[error("as many processes are nice as there is room for")]
    NoRoom,
    /// None that this one sees has the number.
    #[error("there is no process {0}")]
    NoProcess(u32),
    #[error(transparent)]
    Other(io::Error),
}

/// The niceness that this process has by itself; `None` in the foreground, and where nobody answers.
pub fn own() -> Option<Group> {
    of(0)
}

/// That of another process, by the number that this one knows it by; 0 is this one.
pub fn of(pid: u32) -> Option<Group> {
    ask(NN_CALL_ASK, 0, pid).ok().and_then(group)
}

/// This process, and what it will start, becomes at least as nice.
pub fn raise(to: Group) -> Result<(), Refusal> {
    ask(NN_CALL_RAISE, bits(to), 0).map(|_| ())
}

/// A process, 0 being this one, and what it will start, does without QUIC, where there are programs that refuse it
/// ([`crate::quic`]). Another user's takes root.
pub fn forgo_quic(pid: u32) -> Result<(), Refusal> {
    ask(NN_CALL_NO_QUIC, 0, pid).map(|_| ())
}

/// Another process becomes as nice, or returns to the foreground. One's own may become nicer; the rest takes root.
pub fn set(pid: u32, to: Option<Group>) -> Result<(), Refusal> {
    ask(NN_CALL_SET, to.map_or(0, bits), pid).map(|_| ())
}

/// The niceness that the process has then.
fn ask(verb: nn_verb, niceness: u32, pid: u32) -> Result<u32, Refusal> {
    let offset = 1 << 30 | u64::from(verb) << 28 | u64::from(niceness) << 22 | u64::from(pid);
    let why = match file().and_then(|file| file.read_at(&mut [0], offset)) {
        Ok(_) => return Err(Refusal::Unanswered),
        Err(why) => why,
    };
    let said = why.raw_os_error().map_or(0, i32::unsigned_abs);
    if (DONE..DONE + NN_CALL_ANSWERS as u32).contains(&said) {
        return Ok(said - DONE);
    }
    Err(match Errno::from_io_error(&why) {
        Some(Errno::NOMEM) => Refusal::NoRoom,
        Some(Errno::SRCH) => Refusal::NoProcess(pid),
        _ => Refusal::Other(why),
    })
}

fn file() -> io::Result<File> {
    let name = String::from_utf8_lossy(&NN_CALL_FILE[..NN_CALL_FILE.len() - 1]);
    File::open(format!("/proc/sys/{name}"))
}
