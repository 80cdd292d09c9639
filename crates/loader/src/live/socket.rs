// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One TCP socket, wherever it came from.

use std::io;
use std::mem::{size_of, MaybeUninit};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use libc::c_int;

use crate::params::ALGORITHMS;
use crate::shared::NETNICE_RECEIVE;

const NAME_SIZE: usize = 16; // TCP_CA_NAME_MAX
/// What 'netnice1' and 'netnice2' were called: connections from before an upgrade run on them until they end.
const FORMER: [&str; 2] = ["nice1", "nice2"];
/// DSCP 000001 above the two ECN bits (RFC 8622).
const LE: c_int = 0x04;
const ECN: c_int = 0x03;
/// Larger than any window; what a fresh connection has, about.
const UNCLAMPED: c_int = 1 << 30;

pub(super) struct Tcp {
    fd: OwnedFd,
    ipv6: bool,
    /// Go's servers are; the kernel passes options on to the connection below, but not all of them.
    multipath: bool,
}

impl Tcp {
    /// `None` when it is a socket of another kind.
    pub(super) fn of(fd: OwnedFd) -> Option<Self> {
        let option = |name| get::<c_int>(&fd, libc::SOL_SOCKET, name).ok();
        let ipv6 = match option(libc::SO_DOMAIN)? {
            libc::AF_INET => false,
            libc::AF_INET6 => true,
            _ => return None,
        };
        let multipath = match option(libc::SO_PROTOCOL)? {
            libc::IPPROTO_TCP => false,
            libc::IPPROTO_MPTCP => true,
            _ => return None,
        };
        Some(Self {
            fd,
            ipv6,
            multipath,
        })
    }

    pub(super) fn congestion_control(&self) -> io::Result<String> {
        let name: [u8; NAME_SIZE] = get(&self.fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION)?;
        let end = name.iter().position(|b| *b == 0).unwrap_or(NAME_SIZE);
        Ok(String::from_utf8_lossy(&name[..end]).into_owned())
    }

    pub(super) fn is_ours(&self) -> io::Result<bool> {
        let now = self.congestion_control()?;
        Ok(ALGORITHMS.iter().any(|a| a.name == now) || FORMER.contains(&now.as_str()))
    }

    /// The kernel tells the old algorithm to leave and the new one to begin, in one step.
    pub(super) fn set_congestion_control(&self, name: &str) -> io::Result<()> {
        let mut value = [0u8; NAME_SIZE];
        let length = name.len().min(NAME_SIZE - 1);
        value[..length].copy_from_slice(&name.as_bytes()[..length]);
        set(&self.fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, &value)
    }

    /// Puts the mark on, or takes it off; another DSCP than LE is somebody's choice and stays then.
    pub(super) fn mark(&self, wanted: bool) -> io::Result<()> {
        // An IPv6 socket may send IPv4 (::ffff:a.b.c.d), or accept connections that do: it gets both.
        let mut fields = vec![(libc::IPPROTO_IP, libc::IP_TOS)];
        if self.ipv6 {
            fields.push((libc::IPPROTO_IPV6, libc::IPV6_TCLASS));
        }
        for (level, name) in fields {
            let done =
                get::<c_int>(&self.fd, level, name).and_then(|now| match (now & !ECN) == LE {
                    marked if marked == wanted => Ok(()),
                    _ if wanted => set(&self.fd, level, name, &(LE | now & ECN)),
                    _ => set(&self.fd, level, name, &(now & ECN)),
                });
            if !self.multipath {
                done?;
            }
        }
        Ok(())
    }

    pub(super) fn is_multipath(&self) -> bool {
        self.multipath
    }

    /// As its application would say it: what it receives yields.
    pub(super) fn yield_receiving(&self) -> io::Result<()> {
        set(&self.fd, libc::IPPROTO_TCP, NETNICE_RECEIVE, &1)
    }

    /// The kernel tunes the advertised window again.
    pub(super) fn release_window(&self) -> io::Result<()> {
        set(
            &self.fd,
            libc::IPPROTO_TCP,
            libc::TCP_WINDOW_CLAMP,
            &UNCLAMPED,
        )
    }
}

impl AsFd for Tcp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// `T` is a plain number or array of bytes.
fn get<T: Copy>(fd: &OwnedFd, level: c_int, name: c_int) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes; every bit pattern, the zeros too, is a valid T.
    unsafe {
        let value_at = value.as_mut_ptr().cast();
        match libc::getsockopt(fd.as_raw_fd(), level, name, value_at, &mut length) {
            0 => Ok(value.assume_init()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn set<T: Copy>(fd: &OwnedFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of a value that outlives the call.
    let failed = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            level,
            name,
            (value as *const T).cast(),
            length,
        )
    };
    match failed {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
