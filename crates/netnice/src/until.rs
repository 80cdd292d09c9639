// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! --until and --for: the program's niceness ends at a deadline. The kernel compares new sockets with the clock. For live
//! ones a process waits, `netnice-until` in ps(1), which ends with the last program that has a deadline.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use netnice_loader::deadline::Deadline;
use netnice_loader::group::Group;
use netnice_loader::niceness::{self, Heirs};
use netnice_loader::settling;
use netnice_loader::waiting::{boot_timer, is_first, leave_files, wall_timer};
use netnice_output::complain;
use rustix::process::{pidfd_open, setsid, Pid, PidfdFlags};

use crate::error::not_nicer;
use crate::Error;

/// What this binary is called when it waits.
const NAME: &str = "netnice-until";
/// Its first argument: to start the one that waits as no child of the program, or to wait.
const START: &str = "start";
const WAIT: &str = "wait";
/// Between two looks for programs that the one started has left behind: the first, and the longest.
const LOOKS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// This process, and the program that it becomes, is as nice as that until then.
pub(crate) fn raise(to: Group, heirs: Heirs, until: Deadline) -> Result<(), Error> {
    until.ask().map_err(not_nicer)?;
    if let Err(why) = start(until) {
        complain(format_args!(
            "connections that are open at the end of that time stay in the background: no process can wait for it: {why}"
        ));
    }
    niceness::raise(to, heirs).map_err(not_nicer)
}

fn start(until: Deadline) -> io::Result<()> {
    let mut words: Vec<String> = vec![START.to_owned()];
    words.extend(written(until));
    words.push(std::process::id().to_string());
    match command(&words)?.status()?.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{NAME} failed"))),
    }
}

fn command(words: &[String]) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg0(NAME).args(words).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

fn written(until: Deadline) -> [String; 2] {
    match until {
        Deadline::At(second) => ["at".to_owned(), second.to_string()],
        Deadline::In(seconds) => ["in".to_owned(), seconds.to_string()],
    }
}

fn read(clock: &str, number: &str) -> Option<Deadline> {
    match clock {
        "at" => number.parse().ok().map(Deadline::At),
        "in" => number.parse().ok().map(Deadline::In),
        _ => None,
    }
}

/// Does what this binary is for under its other name; `None`: it was not called by that.
pub fn main() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    words.next().filter(|name| name == NAME)?;
    let words: Vec<String> = words.filter_map(|word: OsString| word.into_string().ok()).collect();
    let done = match &words[..] {
        [verb, clock, number, pid] => {
            read(clock, number)
                .zip(pid.parse().ok())
                .map(|(until, pid)| match verb.as_str() {
                    START => leave_files().and_then(|()| restart(&words)),
                    _ => wait(until, pid),
                })
        }
        _ => None,
    };
    Some(match done {
        Some(Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// The parent ends, so that the program has no child that it did not start.
fn restart(words: &[String]) -> io::Result<()> {
    let mut words = words.to_vec();
    words[0] = WAIT.to_owned();
    command(&words)?.spawn().map(|_| ())
}

fn wait(until: Deadline, pid: i32) -> io::Result<()> {
    let _ = setsid(); // the terminal's signals are the program's
    let timer = timer(until)?;
    let program = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    if let Some(program) = program {
        if is_first(&timer, Some(&program), None)? {
            return settle();
        }
    }
    let mut pause = LOOKS[0];
    while settling::is_any_ahead() {
        if is_first(&timer, None, Some(pause))? {
            return settle();
        }
        pause = (pause * 2).min(LOOKS[1]);
    }
    Ok(())
}

fn timer(until: Deadline) -> io::Result<OwnedFd> {
    match until {
        Deadline::At(second) => wall_timer(second),
        Deadline::In(seconds) => boot_timer(seconds),
    }
}

fn settle() -> io::Result<()> {
    settling::settle();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for until in [Deadline::At(1_796_000_000), Deadline::In(90)] {
            let [clock, number] = written(until);
            assert_eq!(read(&clock, &number), Some(until));
        }
        assert_eq!(read("on", "1"), None);
    }
}
