// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One call that puts a TCP connection into the background, with the best that this machine has.
//!
//! ```no_run
//! let socket = std::net::TcpListener::bind("127.0.0.1:0")?;
//! let got = netnice_background::background(&socket)?;
//! println!("sends with {}, receiving yields: {}", got.sends, got.receives);
//! # std::io::Result::Ok(())
//! ```

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;

use socket2::SockRef;

/// Bytes a second where nothing on the machine can yield: 1 Mbit/s. No fixed number is right everywhere.
pub const CAP: u32 = 125_000;
/// A connection that has a level already keeps it: the others yield to less.
const LEVELS: [&str; 3] = ["netnice", "netnice1", "netnice2"];
const CONTROLS: [&str; 3] = ["netnice", "nnledbatpp", "lp"];
const NETNICE_RECEIVE: libc::c_int = 0x6e6e;
/// A read far beyond the end of a line of text: netnice answers with an errno that no error has.
const ANSWERS: u64 = 1 << 30;
const MOST_KBITS: u64 = (1 << 28) - 1;
const DONE: Range<i32> = 0x100..0x200;

/// What the connection got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Background {
    /// A congestion control, or `pacing`: a rate of at most [`CAP`].
    pub sends: &'static str,
    /// Whether what it receives yields too.
    pub receives: bool,
}

/// Tries in this order: a level that the connection has already, netnice, LEDBAT++, TCP-LP, a cap on its rate. Needs no
/// rights, and may be called at any time.
///
/// # Errors
/// It is no TCP socket.
pub fn background(socket: &impl AsFd) -> io::Result<Background> {
    let reference = SockRef::from(socket);
    let had = reference.tcp_congestion()?;
    let receives = set(socket, libc::IPPROTO_TCP, NETNICE_RECEIVE, 1).is_ok();
    let sends = choose(&had, |name| reference.set_tcp_congestion(name.as_bytes()).is_ok());
    let sends = match sends {
        Some(name) => name,
        None => paced(socket)?,
    };
    Ok(Background { sends, receives })
}

/// What the process' connections in the background have together at least: bit/s in each direction; 0: nothing. For
/// sockets that it makes from then on, and for what it starts. Once, before the process is in the background by itself.
///
/// # Errors
/// `PermissionDenied` where that is too late; `Unsupported` where netnice is not loaded.
pub fn at_least(rate: u64) -> io::Result<()> {
    let kbits = (rate / 1000).min(MOST_KBITS);
    match File::open("/proc/sys/kernel/domainname")?.read_at(&mut [0], ANSWERS | kbits) {
        Ok(_) => Err(io::ErrorKind::Unsupported.into()),
        Err(error) if error.raw_os_error().is_some_and(|number| DONE.contains(&number)) => Ok(()),
        Err(error) => Err(error),
    }
}

fn paced(socket: &impl AsFd) -> io::Result<&'static str> {
    set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, CAP)?;
    Ok("pacing")
}

/// The first that there is; `had` is padded with zeros.
fn choose(had: &[u8], mut try_one: impl FnMut(&str) -> bool) -> Option<&'static str> {
    let had = had.split(|&byte| byte == 0).next().unwrap_or_default();
    let kept = LEVELS.into_iter().find(|level| level.as_bytes() == had);
    kept.or_else(|| CONTROLS.into_iter().find(|name| try_one(name)))
}

fn set(socket: &impl AsFd, level: libc::c_int, option: libc::c_int, value: u32) -> io::Result<()> {
    // SAFETY: the kernel reads as many bytes of `value` as it is told.
    let set = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    if set == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};

    use super::*;

    #[test]
    fn the_first_that_is_there_is_taken() {
        assert_eq!(choose(b"cubic\0\0", |_| true), Some("netnice"));
        assert_eq!(choose(b"cubic", |name| name != "netnice"), Some("nnledbatpp"));
        assert_eq!(choose(b"cubic", |name| name == "lp"), Some("lp"));
        assert_eq!(choose(b"cubic", |_| false), None);
    }

    #[test]
    fn a_level_is_kept() {
        let kept = choose(b"netnice2\0\0\0\0\0\0\0\0", |_| panic!("nothing is to be set"));
        assert_eq!(kept, Some("netnice2"));
    }

    #[test]
    fn every_machine_has_something() {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a socket");
        let got = background(&socket).expect("TCP");
        assert!(
            ["netnice", "nnledbatpp", "lp", "pacing"].contains(&got.sends),
            "{got:?}"
        );
    }

    #[test]
    fn pacing_caps_the_rate() {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a socket");
        assert_eq!(paced(&socket).expect("every kernel paces"), "pacing");
        let (mut cap, mut length) = (0u32, size_of::<u32>() as libc::socklen_t);
        // SAFETY: the kernel writes at most `length` bytes to `cap`, which has as many.
        let got = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_MAX_PACING_RATE,
                (&raw mut cap).cast(),
                &raw mut length,
            )
        };
        assert_eq!((got, cap), (0, CAP));
    }

    #[test]
    fn what_is_not_tcp_is_an_error() {
        assert!(background(&UdpSocket::bind("127.0.0.1:0").expect("a socket")).is_err());
    }
}
