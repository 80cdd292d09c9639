// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One at a time, by flocks in a folder of root's: the kernel drops them when their holder dies.
//!
//! `lock` is held while a command changes what is loaded. `reserved` is held, exclusively, by a session that wants the
//! machine's netnice for itself (a test run), which has written `PID NAME` into it. Its own commands have
//! `NETNICE_RESERVATION=PID` in their environment; a command of anything else waits. Commands hold `reserved` too, shared:
//! a reservation begins when those that run have ended.

use std::env;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use netnice_output::complain;
use rustix::fs::{flock, FlockOperation};
use rustix::io::Errno;

use crate::{Error, Result};

const FOLDER: &str = "/run/netnice";
const RESERVATION: &str = "NETNICE_RESERVATION";
/// A healthy up takes well under a second; a holder that needs longer hangs.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
const RETRY: Duration = Duration::from_millis(10);

pub struct Lock(#[allow(dead_code)] File);

impl Lock {
    /// Waits up to 30 s for the end of a reservation, and as long for that of another command.
    pub fn take() -> Result<Self> {
        /// From the first lock to the end of the process.
        static ADMITTED: OnceLock<Option<File>> = OnceLock::new();
        let folder = Path::new(FOLDER);
        if ADMITTED.get().is_none() {
            let _ = ADMITTED.set(admitted(folder, env::var(RESERVATION).ok().as_deref(), LONGEST_WAIT)?);
        }
        Self::take_in(folder, LONGEST_WAIT)
    }

    fn take_in(folder: &Path, longest: Duration) -> Result<Self> {
        let path = folder.join("lock");
        let mut file = open(folder, "lock")?;
        let begun = Instant::now();
        while !locked(&file, FlockOperation::NonBlockingLockExclusive, &path)? {
            if begun.elapsed() > longest {
                return Err(Error::Locked(said(&file), path, longest.as_secs()));
            }
            sleep(RETRY);
        }
        let note = |file: &mut File| -> std::io::Result<()> {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        note(&mut file).map_err(Error::file("write", &path))?;
        Ok(Self(file))
    }
}

/// Waits while the machine's netnice is reserved by another session than this process is of (`session`). What it returns
/// keeps a session from reserving it; `None` within the session that has.
fn admitted(folder: &Path, session: Option<&str>, longest: Duration) -> Result<Option<File>> {
    let path = folder.join("reserved");
    let file = open(folder, "reserved")?;
    let (begun, mut told) = (Instant::now(), false);
    while !locked(&file, FlockOperation::NonBlockingLockShared, &path)? {
        let text = said(&file);
        let (pid, name) = text.split_once(' ').unwrap_or((&text, "unnamed"));
        if !pid.is_empty() && session == Some(pid) {
            return Ok(None);
        }
        if begun.elapsed() > longest {
            let (pid, name) = (pid.to_owned(), name.to_owned());
            return Err(Error::Reserved(pid, name, longest.as_secs()));
        }
        // A session has locked it before it says its name.
        if !told && !pid.is_empty() {
            told = true;
            complain(format_args!(
                "waiting for PID {pid} ({name}), which has reserved netnice on this machine"
            ));
        }
        sleep(RETRY);
    }
    Ok(Some(file))
}

/// A file of the folder, both root's alone: flock asks for no right to write, so others must not open them.
fn open(folder: &Path, name: &str) -> Result<File> {
    let private = Permissions::from_mode(0o700);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .and_then(|()| std::fs::set_permissions(folder, private))
        .map_err(Error::file("make the folder", folder))?;
    let path = folder.join(name);
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(Error::file("open the lock", path))
}

fn locked(file: &File, how: FlockOperation, path: &Path) -> Result<bool> {
    match flock(file, how) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(why) => Err(Error::file("lock", path)(why.into())),
    }
}

/// What the holder has written: only for messages and to know one's own session.
fn said(mut file: &File) -> String {
    let mut text = String::new();
    let _ = file.rewind().and_then(|()| file.read_to_string(&mut text));
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    const SHORT: Duration = Duration::from_millis(50);

    /// A folder of the test's own, gone with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = env::temp_dir().join(format!("netnice-lock-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            Self(folder)
        }

        /// As a session does it.
        fn reserve(&self, who: &str) -> File {
            let mut file = open(&self.0, "reserved").expect("a file");
            flock(&file, FlockOperation::NonBlockingLockExclusive).expect("nobody has it");
            file.set_len(0).expect("a file");
            writeln!(file, "{who}").expect("a file");
            file
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_reservation_keeps_others_out_and_names_itself() {
        let folder = Folder::new("others");
        let held = folder.reserve("4711 tests/run");
        for session in [None, Some("4712"), Some(""), Some("4711 tests/run")] {
            let why = admitted(&folder.0, session, SHORT).expect_err("reserved");
            let why = why.to_string();
            assert!(why.contains("PID 4711 (tests/run)"), "{why}");
        }
        drop(held);
        assert!(admitted(&folder.0, None, SHORT).expect("free").is_some());
    }

    #[test]
    fn commands_of_the_session_pass() {
        let folder = Folder::new("own");
        let _held = folder.reserve("4711 tests/run");
        let passed = admitted(&folder.0, Some("4711"), SHORT).expect("its own");
        assert!(passed.is_none());
        Lock::take_in(&folder.0, SHORT).expect("no other command runs");
    }

    #[test]
    fn a_session_without_a_name_yet_is_no_ones_own() {
        let folder = Folder::new("unnamed");
        let _held = folder.reserve("");
        assert!(admitted(&folder.0, Some(""), SHORT).is_err());
    }

    #[test]
    fn a_command_waits_until_the_reservation_ends() {
        let folder = Folder::new("waits");
        let held = folder.reserve("4711 tests/run");
        let begun = Instant::now();
        let ends = std::thread::spawn(move || {
            sleep(SHORT);
            drop(held);
        });
        let admitted = admitted(&folder.0, None, Duration::from_secs(20));
        assert!(admitted.expect("it ended").is_some());
        assert!(begun.elapsed() >= SHORT);
        ends.join().expect("it ended");
    }

    #[test]
    fn no_reservation_begins_while_a_command_runs() {
        let folder = Folder::new("runs");
        let command = admitted(&folder.0, None, SHORT).expect("free");
        let reserve = || {
            let file = open(&folder.0, "reserved").expect("a file");
            flock(&file, FlockOperation::NonBlockingLockExclusive)
        };
        assert_eq!(reserve(), Err(Errno::WOULDBLOCK));
        drop(command);
        assert_eq!(reserve(), Ok(()));
    }

    #[test]
    fn one_command_at_a_time_and_the_message_names_it() {
        let folder = Folder::new("one");
        let _first = Lock::take_in(&folder.0, SHORT).expect("free");
        let why = match Lock::take_in(&folder.0, SHORT) {
            Ok(_) => panic!("two at once"),
            Err(why) => why.to_string(),
        };
        assert!(why.contains(&format!("process {}", std::process::id())), "{why}");
    }

    #[test]
    fn others_cannot_open_what_is_locked() {
        let folder = Folder::new("others-open");
        fs::create_dir_all(&folder.0).expect("a folder");
        fs::set_permissions(&folder.0, Permissions::from_mode(0o755)).expect("a folder");
        drop(Lock::take_in(&folder.0, SHORT).expect("free"));
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode();
        assert_eq!(mode(&folder.0) & 0o777, 0o700);
        assert_eq!(mode(&folder.0.join("lock")) & 0o077, 0);
    }
}
