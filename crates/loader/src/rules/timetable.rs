// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Rules with hours are applied again whenever some begin or end. A timer of systemd does it. Without systemd a process
//! waits: `netnice-hours` in ps(1). New sockets and programs are compared with the clock in the kernel.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jiff::Timestamp;
use procfs::process::all_processes;
use rustix::process::{kill_process, Pid, Signal};

/// Of the process that waits, and what the names of the timers' units begin with.
pub const NAME: &str = "netnice-hours";
const SYSTEMD: &str = "/run/systemd/system";

/// Replaces what waits; `None`: by nothing.
pub(super) fn plan(next: Option<Timestamp>) -> io::Result<()> {
    stop();
    let Some(at) = next else {
        return Ok(());
    };
    match Path::new(SYSTEMD).exists() && timer(at.as_second())? {
        true => Ok(()),
        false => wait_apart(),
    }
}

/// Nothing waits any more; this process is left out.
pub(crate) fn stop() {
    if Path::new(SYSTEMD).exists() {
        let _ = run("systemctl", &["stop".into(), format!("{NAME}-*.timer")]); // there may be none
    }
    for process in all_processes().into_iter().flatten().flatten() {
        let waits = process
            .cmdline()
            .is_ok_and(|words| words.first().is_some_and(|name| name == NAME));
        let other = process.pid().unsigned_abs() != std::process::id();
        if let Some(pid) = Pid::from_raw(process.pid()).filter(|_| waits && other) {
            let _ = kill_process(pid, Signal::TERM); // it has ended
        }
    }
}

/// False: systemd makes none.
fn timer(second: i64) -> io::Result<bool> {
    let mut words: Vec<String> = ["--quiet", "--collect", "--timer-property=AccuracySec=100ms"]
        .map(str::to_owned)
        .into();
    words.push("--timer-property=OnClockChange=yes".to_owned());
    words.push("--timer-property=OnTimezoneChange=yes".to_owned());
    words.push(format!("--unit={NAME}-{second}")); // that of the last is perhaps what runs now
    words.push(format!("--on-calendar=@{second}"));
    words.push(netnicectl()?.to_string_lossy().into_owned());
    words.extend(["policy", "apply", "--again"].map(str::to_owned));
    Ok(run("systemd-run", &words).unwrap_or(false))
}

fn run(program: &str, words: &[String]) -> io::Result<bool> {
    let mut command = Command::new(program);
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(command.status()?.success())
}

/// Beside the program that runs, which may be netnice.
fn netnicectl() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("netnicectl"))
}

/// It holds no file of this process, and is not stopped with its terminal.
fn wait_apart() -> io::Result<()> {
    let mut command = Command::new(netnicectl()?);
    command.arg0(NAME).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(|_| ())
}
