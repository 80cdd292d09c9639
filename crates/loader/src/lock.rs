// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One at a time: up and down hold an flock, which the kernel drops when its holder dies.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Error, Result};

const PATH: &str = "/run/netnice.lock";
/// A healthy up takes well under a second; a holder that needs longer hangs.
const PATIENCE: Duration = Duration::from_secs(30);
const RETRY: Duration = Duration::from_millis(10);

pub struct Lock(#[allow(dead_code)] File);

impl Lock {
    /// Waits up to 30 s for another up or down to finish.
    pub fn take() -> Result<Self> {
        let path = Path::new(PATH);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(Error::file("open the lock", path))?;
        let begun = Instant::now();
        // SAFETY: the descriptor is open for as long as `file` lives.
        while unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            let why = std::io::Error::last_os_error();
            if why.raw_os_error() != Some(libc::EWOULDBLOCK) {
                return Err(Error::file("lock", path)(why));
            }
            if begun.elapsed() > PATIENCE {
                let mut holder = String::new();
                // The number is only for the message.
                let _ = file.read_to_string(&mut holder);
                return Err(Error::Locked(
                    holder.trim().to_owned(),
                    path.into(),
                    PATIENCE.as_secs(),
                ));
            }
            sleep(RETRY);
        }
        let note = |mut file: &File| -> std::io::Result<()> {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        note(&file).map_err(Error::file("write", path))?;
        Ok(Self(file))
    }
}
