// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnicectl demo`: page loads on an emulated line, alone, beside plain uploads and beside netnice uploads.
//!
//! This file has the first process; `parts` has the others.

mod conditions;
mod pages;
mod parts;
mod result;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use nix::sys::signal::Signal;

use crate::processes::{require_root, send_signals, Loaded};
use crate::progress::Progress;
use conditions::Event;
pub use parts::Part;
use result::Demo;

/// Longer than any run that goes on.
const HANGS: Duration = Duration::from_secs(60);
/// What a run takes, for the progress.
const USUAL: Duration = Duration::from_secs(27);

/// What the first process waits for.
enum Next {
    Told(Event),
    Interrupted(Signal),
    /// The line has ended: what it complained of.
    Ended(String),
}

/// How a demonstration ended.
pub enum Outcome {
    Done(Demo),
    Interrupted(Signal),
}

/// Shows it. Nothing is left afterwards, however this process ends.
pub fn run() -> Result<Outcome> {
    require_root("make the emulated line of the demonstration")?;
    let (sender, events) = mpsc::channel();
    send_signals(sender.clone(), Next::Interrupted)?;
    let begun = Instant::now();
    let mut progress = Progress::new();
    let mut show = |title: &str| progress.show(begun.elapsed().as_secs_f64() / USUAL.as_secs_f64(), title);
    let _loaded = Loaded::ensure(&mut Part::Guard.command()?, || show("load netnice"))?;
    let mut line = Line::start(sender)?;
    let mut demo = Demo::new();
    loop {
        let wait = Duration::from_millis(100);
        match events.recv_timeout(wait) {
            Ok(Next::Told(event)) => demo.add(event),
            Ok(Next::Interrupted(signal)) => return Ok(Outcome::Interrupted(signal)),
            Ok(Next::Ended(said)) => {
                let status = line.0.wait()?;
                if !status.success() {
                    bail!("{}", ended(&status.to_string(), said.trim_end()));
                }
                demo.remarks = said.lines().map(str::to_owned).collect();
                return Ok(Outcome::Done(demo));
            }
            Err(RecvTimeoutError::Timeout) if begun.elapsed() < HANGS => {}
            Err(_) => bail!(
                "the demonstration hangs: it has no result after {} s.\nRun it again.",
                HANGS.as_secs()
            ),
        }
        match demo.phases.last() {
            Some(phase) => show(&format!("page loads {}", phase.background.title())),
            None => show("build the line"),
        }
    }
}

/// The processes of the line: killed when this value goes.
struct Line(Child);

impl Line {
    fn start(to: Sender<Next>) -> Result<Self> {
        let mut command = Part::Line.command()?;
        // A Ctrl-C is for the first process, which ends the others.
        let command = command.process_group(0).stdin(Stdio::null());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start a process")?;
        let pipes = child.stdout.take().zip(child.stderr.take());
        let (told, complaints) = pipes.context("a process without pipes")?;
        let complaints = thread::spawn(move || {
            let (mut said, mut pipe) = (String::new(), complaints);
            pipe.read_to_string(&mut said).map(|_| said).unwrap_or_default()
        });
        thread::spawn(move || {
            for line in BufReader::new(told).lines().map_while(std::io::Result::ok) {
                let event = serde_json::from_str(&line).map(Next::Told);
                // The first process has ended if it does not listen.
                let _ = event.map(|event| to.send(event));
            }
            let _ = to.send(Next::Ended(complaints.join().unwrap_or_default()));
        });
        Ok(Self(child))
    }
}

/// Why there is no result: the line's complaint, if it could make one.
fn ended(status: &str, said: &str) -> String {
    match said {
        "" => format!("the emulated line has ended ({status}).\nRun it again."),
        _ => format!("the emulated line has ended ({status}): {said}"),
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::conditions::Background;
    use super::*;

    #[test]
    fn a_line_that_has_ended_says_why() {
        assert_eq!(
            ended("exit status: 1", "no TUN"),
            "the emulated line has ended (exit status: 1): no TUN"
        );
        assert!(ended("signal: 9 (SIGKILL)", "").ends_with("(signal: 9 (SIGKILL)).\nRun it again."));
    }

    #[test]
    fn events_are_lines() {
        for event in [
            Event::Phase(Background::Plain),
            Event::Lost,
            Event::Page { at: 0.5, ms: 1.0 },
        ] {
            let line = serde_json::to_string(&event).expect("JSON");
            let read: Event = serde_json::from_str(&line).expect("what was written");
            assert_eq!(format!("{read:?}"), format!("{event:?}"));
        }
    }
}
