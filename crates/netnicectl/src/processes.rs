// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Processes of a demonstration: this program again, programs of the package, and netnice in the kernel meanwhile.
//!
//! Nothing of them may outlive a `kill -9` of the first process. So each ends with its parent, but the guard: it outlives
//! the first process, to unload netnice.

use std::io::{self, BufRead, BufReader};
use std::os::unix::process::{parent_id, CommandExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use netnice_loader::cgroup::Hierarchy;
use netnice_loader::facts::privileged;
use netnice_loader::group::{Direction, Group};
use netnice_loader::status::status;
use netnice_loader::{down, is_up, up, Error, Outcome, UpOptions};
use netnice_output::{complain, print};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};

/// This program.
pub fn own() -> Result<PathBuf> {
    std::env::current_exe().context("cannot find this program's own file; is /proc mounted?")
}

/// A program of the package: beside this one, else from PATH.
pub fn beside(name: &str) -> Result<PathBuf> {
    let found = own()?.with_file_name(name);
    Ok(if found.exists() {
        found
    } else {
        Path::new(name).to_owned()
    })
}

/// This process ends with its parent, whatever ends that.
pub fn end_with(parent: u32) -> Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL).context("cannot ask for the signal of a parent's end")?;
    if parent_id() != parent {
        bail!("the process that started this one has ended");
    }
    Ok(())
}

/// Blocks the signals that end this program; each is sent as an event instead. Call it before other threads begin.
pub fn send_signals<T: Send + 'static>(to: Sender<T>, event: fn(Signal) -> T) -> Result<()> {
    let all = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
    let mask: SigSet = all.into_iter().collect();
    mask.thread_block().context("cannot block signals")?;
    thread::spawn(move || {
        while let Ok(signal) = mask.wait() {
            if to.send(event(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Only root goes on.
pub fn require_root(what: &'static str) -> Result<()> {
    match privileged() {
        true => Ok(()),
        false => Err(Error::NotRoot(what).into()),
    }
}

/// netnice in the kernel while this value lives. If it was not loaded before, it is unloaded afterwards.
pub struct Loaded(Option<Child>);

impl Loaded {
    /// `guard` starts this program as the guard, after `before`.
    pub fn ensure(guard: &mut Command, before: impl FnOnce()) -> Result<Self> {
        if is_up(&Hierarchy::find()?, Group::new(0, true, Direction::Both)) {
            return Ok(Self(None));
        }
        before();
        Self::by(guard)
    }

    fn by(guard: &mut Command) -> Result<Self> {
        // A Ctrl-C is not the guard's.
        let guard = guard.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = guard.spawn().context("cannot start a process")?;
        let mut said = String::new();
        if let Some(pipe) = child.stdout.take() {
            BufReader::new(pipe)
                .read_line(&mut said)
                .context("cannot read a pipe")?;
        }
        let loaded = Self(Some(child));
        match serde_json::from_str(&said).context("the process that loads netnice has ended")? {
            Ok(()) => Ok(loaded),
            Err::<(), String>(why) => bail!(why),
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Some(guard) = &mut self.0 {
            drop(guard.stdin.take());
            let _ = guard.wait();
        }
    }
}

/// The guard: loads netnice, and unloads it when the process at the other end of its standard input has ended.
pub fn guard() -> Result<()> {
    let done = up(&UpOptions::default(), &mut |_| ());
    let told = done.as_ref().map(|_| ()).map_err(ToString::to_string);
    print(serde_json::to_string(&told)?)?;
    let _ = io::copy(&mut io::stdin(), &mut io::sink()); // an error is an end, too
    if !matches!(done, Ok(Outcome::Loaded)) {
        return Ok(());
    }
    let others = others();
    if others == 0 {
        down(&mut |_| ())?;
    } else {
        complain(format_args!(
            "netnice stays loaded: {others} processes or units are in the background by now. \
             To unload it: 'netnicectl down'."
        ));
    }
    Ok(())
}

/// How long killed processes take to end, at most.
const ENDING: Duration = Duration::from_secs(3);

/// Processes and units in the background that are not of this program.
fn others() -> usize {
    let begun = Instant::now();
    loop {
        let in_background = |status: netnice_loader::status::Status| {
            status.niceness.map_or(0, |nice| nice.processes.len()) + status.attached.len()
        };
        let count = status().map_or(0, in_background);
        if count == 0 || begun.elapsed() > ENDING {
            return count;
        }
        sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(script: &str) -> Result<Loaded> {
        Loaded::by(Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn what_hinders_the_guard_is_the_error() {
        let why = |script| by(script).err().expect("an error").to_string();
        assert_eq!(
            why(r#"echo '{"Err":"this kernel is too old"}'"#),
            "this kernel is too old"
        );
        assert!(why("exit 1").contains("has ended"));
    }

    #[test]
    fn the_guard_is_waited_for() {
        let file = std::env::temp_dir().join(format!("netnicectl-guard-{}", std::process::id()));
        drop(by(&format!(r#"echo '{{"Ok":null}}'; cat; touch {}"#, file.display())).expect("it is loaded"));
        assert!(file.exists(), "the guard has done its work");
        std::fs::remove_file(file).expect("it exists");
    }

    #[test]
    fn a_process_whose_parent_has_ended_does_not_begin() {
        let why = end_with(u32::MAX).expect_err("another parent");
        assert!(why.to_string().contains("has ended"));
        prctl::set_pdeathsig(None).expect("the test's own process goes on");
    }
}
