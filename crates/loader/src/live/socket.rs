// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One TCP socket, wherever it came from.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use libc::c_int;
use rustix::io::Errno;
use rustix::net::{ipproto, sockopt, AddressFamily};
use socket2::SockRef;

use crate::settings::ALGORITHMS;
use crate::shared::{NETNICE_RECEIVE, POLICY_PRIORITY, POLICY_TOS};

/// What 'netnice1' and 'netnice2' were called: connections from before an upgrade run on them until they end.
const FORMER: [&str; 2] = ["nice1", "nice2"];
const LE: u8 = POLICY_TOS as u8;
const ECN: u8 = 0x03;
/// Larger than any window; what a fresh connection has, about.
const UNCLAMPED: c_int = 1 << 30;
/// A state of TCP, as the kernel numbers them.
const LISTEN: u8 = 10;

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
        Some(Self { fd, ipv6, multipath })
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

    /// After the TOS, which resets it; another priority than background's is somebody's choice and stays. Without root
    /// it stays too: the kernel lets users have priorities up to 6.
    fn prioritize(&self, wanted: bool) -> io::Result<()> {
        let socket = SockRef::from(&self.fd);
        let done = match (socket.priority()?, wanted) {
            (0, true) => socket.set_priority(POLICY_PRIORITY),
            (POLICY_PRIORITY, false) => socket.set_priority(0),
            _ => Ok(()),
        };
        match done {
            Err(why) if Errno::from_io_error(&why) == Some(Errno::PERM) => Ok(()),
            done => done,
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

    /// How many connections wait to be accepted; 0 of one that does not listen.
    pub(super) fn waiting(&self) -> io::Result<u32> {
        // SAFETY: integers, for which any bytes are values.
        let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
        let mut length = size_of_val(&info) as libc::socklen_t;
        let fd = self.fd.as_raw_fd();
        // SAFETY: the kernel writes at most `length` bytes.
        let failed = unsafe {
            let info = (&raw mut info).cast();
            libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, info, &raw mut length)
        };
        match failed {
            0 if info.tcpi_state == LISTEN => Ok(info.tcpi_unacked),
            0 => Ok(0),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// A number that no other socket has.
    pub(super) fn cookie(&self) -> io::Result<u64> {
        Ok(sockopt::socket_cookie(&self.fd)?)
    }

    pub(super) fn is_multipath(&self) -> bool {
        self.multipath
    }

    /// As its application would say it: what it receives yields.
    pub(super) fn yield_receiving(&self) -> io::Result<()> {
        self.set(NETNICE_RECEIVE, 1)
    }

    /// The kernel tunes the advertised window again, up to so many bytes; 0: to any.
    pub(super) fn release_window(&self, most: c_int) -> io::Result<()> {
        self.set(libc::TCP_WINDOW_CLAMP, if most > 0 { most } else { UNCLAMPED })
    }

    /// An option of TCP that rustix does not know.
    fn set(&self, name: c_int, value: c_int) -> io::Result<()> {
        let length = size_of_val(&value) as libc::socklen_t;
        let fd = self.fd.as_raw_fd();
        // SAFETY: the kernel reads `length` bytes of a value that outlives the call.
        let failed = unsafe {
            let value = (&raw const value).cast();
            libc::setsockopt(fd, libc::IPPROTO_TCP, name, value, length)
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
