// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The congestion control of live sockets, and what they have not yet got rid of.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd};

use socket2::SockRef;

/// What a connection that is now made here would run on.
pub fn system() -> io::Result<String> {
    of(&TcpListener::bind(("127.0.0.1", 0))?)
}

pub fn of(socket: &impl AsFd) -> io::Result<String> {
    let name = SockRef::from(socket).tcp_congestion()?;
    let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

pub fn set(socket: &impl AsFd, name: &str) -> io::Result<()> {
    SockRef::from(socket).set_tcp_congestion(name.as_bytes())
}

/// The first of `names` that sockets here can have.
pub fn first_available(names: &[String]) -> Option<String> {
    let probe = TcpListener::bind(("127.0.0.1", 0)).ok()?;
    names.iter().find(|name| set(&probe, name).is_ok()).cloned()
}

/// Bytes that the peer has not acknowledged, sent or not.
pub fn unacknowledged(socket: &impl AsFd) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: TIOCOUTQ writes one int to `bytes`, which outlives the call.
    let done = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &mut bytes) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(bytes.max(0) as usize)
}
