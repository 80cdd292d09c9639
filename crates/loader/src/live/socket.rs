// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One TCP socket, wherever it came from.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use libc::c_int;
use rustix::net::{ipproto, sockopt, AddressFamily};

use crate::params::ALGORITHMS;
use crate::shared::NETNICE_RECEIVE;

/// What 'netnice1' and 'netnice2' were called: connections from before an upgrade run on them until they end.
const FORMER: [&str; 2] = ["nice1", "nice2"];
/// DSCP 000001 above the two ECN bits (RFC 8622).
const LE: u8 = 0x04;
const ECN: u8 = 0x03;
/// Background, for this host's own queues, as transport/policy/policy.bpf.c has it.
const BACKGROUND: c_int = 257;
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
        let ipv6 = match sockopt::socket_domain(&fd).ok()? {
            AddressFamily::INET => false,
            AddressFamily::INET6 => true,
            _ => return None,
        };
        let multipath = match sockopt::socket_protocol(&fd).ok()?? {
            ipproto::TCP => false,
            ipproto::MPTCP => true,
            _ => return None,
        };
        Some(Self {
            fd,
            ipv6,
            multipath,
        })
    }

    pub(super) fn congestion_control(&self) -> io::Result<String> {
        Ok(sockopt::tcp_congestion(&self.fd)?)
    }

    pub(super) fn is_ours(&self) -> io::Result<bool> {
        let now = self.congestion_control()?;
        Ok(ALGORITHMS.iter().any(|a| a.name == now) || FORMER.contains(&now.as_str()))
    }

    /// The kernel tells the old algorithm to leave and the new one to begin, in one step.
    pub(super) fn set_congestion_control(&self, name: &str) -> io::Result<()> {
        Ok(sockopt::set_tcp_congestion(&self.fd, name)?)
    }

    /// Puts the mark on, or takes it off; another DSCP than LE is somebody's choice and stays then.
    pub(super) fn mark(&self, wanted: bool) -> io::Result<()> {
        // An IPv6 socket may send IPv4 (::ffff:a.b.c.d), or accept connections that do: it gets both.
        let v6 = self.ipv6.then(|| self.mark_ipv6(wanted));
        for done in [Some(self.mark_ipv4(wanted)), v6].into_iter().flatten() {
            if !self.multipath {
                done?;
            }
        }
        self.prioritize(wanted)
    }

    /// After the TOS, which resets it; another priority than background's is somebody's choice and stays.
    fn prioritize(&self, wanted: bool) -> io::Result<()> {
        match (self.priority()?, wanted) {
            (0, true) => self.set(libc::SOL_SOCKET, libc::SO_PRIORITY, BACKGROUND),
            (BACKGROUND, false) => self.set(libc::SOL_SOCKET, libc::SO_PRIORITY, 0),
            _ => Ok(()),
        }
    }

    fn mark_ipv4(&self, wanted: bool) -> rustix::io::Result<()> {
        let now = sockopt::ip_tos(&self.fd)?;
        match marked(now, wanted) {
            same if same == now => Ok(()),
            tos => sockopt::set_ip_tos(&self.fd, tos),
        }
    }

    fn mark_ipv6(&self, wanted: bool) -> rustix::io::Result<()> {
        let now = sockopt::ipv6_tclass(&self.fd)? as u8;
        match marked(now, wanted) {
            same if same == now => Ok(()),
            class => sockopt::set_ipv6_tclass(&self.fd, class.into()),
        }
    }

    pub(super) fn is_multipath(&self) -> bool {
        self.multipath
    }

    /// As its application would say it: what it receives yields.
    pub(super) fn yield_receiving(&self) -> io::Result<()> {
        self.set(libc::IPPROTO_TCP, NETNICE_RECEIVE, 1)
    }

    /// The kernel tunes the advertised window again.
    pub(super) fn release_window(&self) -> io::Result<()> {
        self.set(libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, UNCLAMPED)
    }

    fn priority(&self) -> io::Result<c_int> {
        let mut value: c_int = 0;
        let mut length = size_of_val(&value) as libc::socklen_t;
        let fd = self.fd.as_raw_fd();
        // SAFETY: the kernel writes at most `length` bytes into a value that outlives the call.
        let failed = unsafe {
            let value = (&raw mut value).cast();
            libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PRIORITY, value, &mut length)
        };
        match failed {
            0 => Ok(value),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// An option that rustix does not know.
    fn set(&self, level: c_int, name: c_int, value: c_int) -> io::Result<()> {
        let length = size_of_val(&value) as libc::socklen_t;
        let fd = self.fd.as_raw_fd();
        // SAFETY: the kernel reads `length` bytes of a value that outlives the call.
        let failed = unsafe {
            let value = (&raw const value).cast();
            libc::setsockopt(fd, level, name, value, length)
        };
        match failed {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// A TOS or traffic class with the mark, or without; the ECN bits stay.
fn marked(now: u8, wanted: bool) -> u8 {
    match (now & !ECN == LE, wanted) {
        (false, true) => LE | now & ECN,
        (true, false) => now & ECN,
        _ => now,
    }
}

impl AsFd for Tcp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
