// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! TUN devices: an interface whose packets this process reads and writes.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use anyhow::{bail, Context, Result};

const DEVICE: &str = "/dev/net/tun";
/// The kernel fills in the first free number.
const NAME: &[u8] = b"nnp%d\0";

nix::ioctl_write_ptr_bad!(tun_set_interface, libc::TUNSETIFF, libc::ifreq);

/// A TUN device; it goes when this value, or the process, does.
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
}

impl Tun {
    /// Makes a device in the calling thread's network namespace. It is not up yet.
    pub fn create() -> Result<Tun> {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(DEVICE);
        let file = match opened {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => bail!(
                "{DEVICE} does not exist, so no TUN device can be made; \
                 try 'modprobe tun', or in a container start it with '--device {DEVICE}'"
            ),
            Err(e) => {
                return Err(e).context(format!(
                    "cannot open {DEVICE}; a path needs root or CAP_NET_ADMIN"
                ))
            }
        };
        // SAFETY: an all-zero ifreq is valid.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(NAME) {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the fd is open and the request lives through the call.
        unsafe { tun_set_interface(file.as_raw_fd(), &raw const request) }.context(
            "cannot make a TUN device; a path needs root or CAP_NET_ADMIN in the network namespace it starts from: \
             try sudo",
        )?;
        let name = request
            .ifr_name
            .iter()
            .take_while(|&&c| c != 0)
            .map(|&c| c as u8 as char)
            .collect();
        Ok(Tun { file, name })
    }

    /// The interface's name in its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads one packet, or `None` when none waits.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(buffer) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == ErrorKind::WouldBlock || e.kind() == ErrorKind::Interrupted => {
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// Hands one packet to the kernel.
    pub fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.file.write(packet).map(drop)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
