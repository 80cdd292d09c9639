// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Sets the congestion control of a connection, or its receiver.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use socket2::SockRef;
use thiserror::Error;

/// As docs/build-on/applications.md has it.
const NETNICE_RECEIVE: libc::c_int = 0x6e6e;

/// Why a connection cannot have what the action names.
#[derive(Debug, Error)]
pub enum NotHere {
    #[error("there is no congestion control '{0}' in this kernel; netnice's are there after 'sudo netnicectl up', others after 'sudo modprobe tcp_{0}'")]
    Unknown(String),
    #[error(
        "only root may choose '{0}' here; run as root, or add it to sysctl net.ipv4.tcp_allowed_congestion_control"
    )]
    Forbidden(String),
    #[error("no netnice listens to applications here, so nothing can be received with '{0}'; run 'sudo netnicectl up --applications'")]
    NoReceiver(String),
    #[error("'{0}' could not be set: {1}")]
    Other(String, io::Error),
}

/// The sender's congestion control of a socket.
/// The kernel has none of that name, or this user may not choose it.
pub fn set(socket: &impl AsFd, name: &str) -> Result<(), NotHere> {
    let set = SockRef::from(socket).set_tcp_congestion(name.as_bytes());
    set.map_err(|e| match e.raw_os_error() {
        Some(libc::ENOENT) => NotHere::Unknown(name.into()),
        Some(libc::EPERM) => NotHere::Forbidden(name.into()),
        _ => NotHere::Other(name.into(), e),
    })
}

/// What a socket receives goes by netnice's receiver.
/// netnice is not up for applications.
pub fn receive(socket: &impl AsFd, name: &str) -> Result<(), NotHere> {
    let one: libc::c_int = 1;
    // SAFETY: the kernel reads as many bytes of `one` as it is told.
    let set = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            NETNICE_RECEIVE,
            (&raw const one).cast(),
            size_of_val(&one) as libc::socklen_t,
        )
    };
    if set == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        e if e.raw_os_error() == Some(libc::ENOPROTOOPT) => Err(NotHere::NoReceiver(name.into())),
        e => Err(NotHere::Other(name.into(), e)),
    }
}

/// Bytes that the peer has acknowledged.
/// It is no TCP socket.
pub fn acknowledged(socket: &impl AsFd) -> io::Result<u64> {
    /// `tcpi_bytes_acked` of struct tcp_info, since Linux 4.1.
    const OFFSET: usize = 120;
    let mut info = [0u8; OFFSET + 8];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes.
    let got = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if got != 0 {
        return Err(io::Error::last_os_error());
    }
    let word = info[OFFSET..].try_into().expect("eight bytes");
    Ok(u64::from_ne_bytes(word))
}
