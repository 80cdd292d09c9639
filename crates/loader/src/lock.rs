// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One at a time: up and down hold an flock, which the kernel drops when its holder dies.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{flock, FlockOperation};
use rustix::io::Errno;

use crate::{Error, Result};

const PATH: &str = "/run/netnice.lock";
/// A healthy up takes well under a second; a holder that needs longer hangs.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
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
        while let Err(why) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            if why != Errno::WOULDBLOCK {
                return Err(Error::file("lock", path)(why.into()));
            }
            if begun.elapsed() > LONGEST_WAIT {
                let mut holder = String::new();
                // The number is only for the message.
                let _ = file.read_to_string(&mut holder);
                return Err(Error::Locked(
                    holder.trim().to_owned(),
                    path.into(),
                    LONGEST_WAIT.as_secs(),
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
