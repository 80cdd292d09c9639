// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One TCP socket, wherever it came from.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use libc::c_int;
use rustix::io::Errno;
use rustix::net::{ipproto, sockopt, AddressFamily};
use socket2::SockRef;

use crate::group::Group;
use crate::shared::{socket_before, NETNICE_RECEIVE, NN_CLAMP_OF_SCALE, NN_UNCLAMPED, POLICY_PRIORITY, POLICY_TOS};

/// What 'netnice1' and 'netnice2' were called: connections from before an upgrade run on them until they end.
const FORMER: [&str; 2] = ["nice1", "nice2"];
const LE: u8 = POLICY_TOS as u8;
const ECN: u8 = 0x03;
const UNCLAMPED: c_int = NN_UNCLAMPED as c_int;
const CLAMP_OF_SCALE: c_int = NN_CLAMP_OF_SCALE as c_int;
/// A state of TCP, as the kernel numbers them.
const LISTEN: u8 = 10;

/// What a socket had before it came to a level; as far as it is known.
#[derive(Default)]
pub(super) struct Before(socket_before);

impl Before {
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..size_of::<socket_before>())?;
        // SAFETY: as many bytes as the structure has, of integers; they need not be aligned.
        Some(Self(unsafe { bytes.as_ptr().cast::<socket_before>().read_unaligned() }))
    }

    pub(super) fn encode(&self) -> [u8; size_of::<socket_before>()] {
        // SAFETY: a structure of integers without gaps, as many bytes as it has.
        unsafe { std::mem::transmute(self.0) }
    }

    pub(super) fn congestion_control(&self) -> Option<&str> {
        let name = CStr::from_bytes_until_nul(&self.0.cc_name).ok()?.to_str().ok()?;
        Some(name).filter(|name| !name.is_empty())
    }

    pub(super) fn marked(&self) -> bool {
        self.0.marked != 0
    }

    pub(super) fn leave_unmarked(&mut self) {
        self.0.marked = 0;
    }
}

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

    /// What it has now.
    pub(super) fn before(&self) -> io::Result<Before> {
        // An MPTCP socket has no traffic class of its own.
        let known = |why| if self.multipath { Ok(0) } else { Err(why) };
        let mut had = socket_before {
            priority: SockRef::from(&self.fd).priority()?,
            tos: sockopt::ip_tos(&self.fd).or_else(known)?,
            ..Default::default()
        };
        if self.ipv6 {
            had.traffic_class = sockopt::ipv6_tclass(&self.fd).map_or_else(known, |class| Ok(class as u8))?;
        }
        // The last byte stays the zero that ends it.
        let room = had.cc_name.iter_mut().take(15);
        let name = self.congestion_control()?;
        room.zip(name.bytes()).for_each(|(to, byte)| *to = byte);
        Ok(Before(had))
    }

    /// It is on a level; one that its application has chosen of netnice's other algorithms is not.
    pub(super) fn is_of_a_level(&self) -> io::Result<bool> {
        let now = self.congestion_control()?;
        Ok(Group::level_of(&now).is_some() || FORMER.contains(&now.as_str()))
    }

    /// The kernel tells the old algorithm to leave and the new one to begin, in one step.
    pub(super) fn set_congestion_control(&self, name: &str) -> io::Result<()> {
        Ok(sockopt::set_tcp_congestion(&self.fd, name)?)
    }

    /// An IPv6 socket may send IPv4 (::ffff:a.b.c.d), or accept connections that do: it gets both marks.
    pub(super) fn mark(&self) -> io::Result<()> {
        let with = |now: u8| LE | now & ECN;
        self.turn_marks(with, with)?;
        self.prioritize(POLICY_PRIORITY)
    }

    /// Gives the marks and the priority back that the socket had. What its program has set since stays.
    pub(super) fn unmark(&self, had: &Before) -> io::Result<()> {
        let priority = SockRef::from(&self.fd).priority()?;
        let back = |had: u8| move |now: u8| if now & !ECN == LE { had & !ECN | now & ECN } else { now };
        self.turn_marks(back(had.0.tos), back(had.0.traffic_class))?;
        // Without root, marking left a priority of 0.
        self.prioritize(match priority {
            0 | POLICY_PRIORITY => had.0.priority,
            own => own,
        })
    }

    fn turn_marks(&self, ipv4: impl Fn(u8) -> u8, ipv6: impl Fn(u8) -> u8) -> io::Result<()> {
        let v6 = self.ipv6.then(|| self.turn_ipv6(ipv6));
        for done in [Some(self.turn_ipv4(ipv4)), v6].into_iter().flatten() {
            if !self.multipath {
                done?;
            }
        }
        Ok(())
    }

    /// After the TOS, which resets it. Without root it stays: the kernel lets users have priorities up to 6.
    fn prioritize(&self, wanted: u32) -> io::Result<()> {
        let socket = SockRef::from(&self.fd);
        if socket.priority()? == wanted {
            return Ok(());
        }
        match socket.set_priority(wanted) {
            Err(why) if Errno::from_io_error(&why) == Some(Errno::PERM) => Ok(()),
            done => done,
        }
    }

    fn turn_ipv4(&self, turned: impl Fn(u8) -> u8) -> rustix::io::Result<()> {
        let now = sockopt::ip_tos(&self.fd)?;
        match turned(now) {
            same if same == now => Ok(()),
            tos => sockopt::set_ip_tos(&self.fd, tos),
        }
    }

    fn turn_ipv6(&self, turned: impl Fn(u8) -> u8) -> rustix::io::Result<()> {
        let now = sockopt::ipv6_tclass(&self.fd)? as u8;
        match turned(now) {
            same if same == now => Ok(()),
            class => sockopt::set_ipv6_tclass(&self.fd, class.into()),
        }
    }

    /// How many connections wait to be accepted; 0 of one that does not listen.
    pub(super) fn waiting(&self) -> io::Result<u32> {
        // SAFETY: integers, for which any bytes are values.
        let info: libc::tcp_info = unsafe { std::mem::zeroed() };
        let info = self.get(libc::TCP_INFO, info)?;
        Ok(if info.tcpi_state == LISTEN {
            info.tcpi_unacked
        } else {
            0
        })
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

    /// What it accepts from now on has a window scale of netnice's, or none of netnice's; nothing where it does not listen.
    pub(super) fn limit_scale(&self, wanted: bool) -> io::Result<()> {
        if self.multipath || !sockopt::socket_acceptconn(&self.fd)? {
            return Ok(());
        }
        let now = self.window_clamp()?;
        match wanted {
            true if now == 0 || now > CLAMP_OF_SCALE => self.set(libc::TCP_WINDOW_CLAMP, CLAMP_OF_SCALE),
            false if now == CLAMP_OF_SCALE => self.set(libc::TCP_WINDOW_CLAMP, UNCLAMPED),
            _ => Ok(()),
        }
    }

    /// Bytes; 0: none.
    pub(super) fn window_clamp(&self) -> io::Result<c_int> {
        self.get(libc::TCP_WINDOW_CLAMP, 0)
    }

    /// An option of TCP that rustix does not know; the kernel writes it over `value`, which is of integers.
    fn get<T>(&self, name: c_int, mut value: T) -> io::Result<T> {
        let mut length = size_of_val(&value) as libc::socklen_t;
        let fd = self.fd.as_raw_fd();
        // SAFETY: the kernel writes at most `length` bytes.
        let failed = unsafe {
            let value = (&raw mut value).cast();
            libc::getsockopt(fd, libc::IPPROTO_TCP, name, value, &raw mut length)
        };
        match failed {
            0 => Ok(value),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Likewise.
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

impl AsFd for Tcp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
