// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnicectl demo`: page loads on an emulated line, alone, beside plain uploads and beside netnice uploads.
//!
//! This file has the conditions, the first process and the result; `parts` has the other processes.

mod pages;
mod parts;

use std::fmt::{self, Display, Formatter};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use crate::bars::{mean, p95, Bar, Bars};
use crate::processes::{require_root, send_signals, Loaded};
use crate::progress::Progress;
pub use parts::Part;

/// Of both directions.
const RATE_MBIT: u32 = 10;
const RTT_MS: u32 = 40;
/// The router's buffer, of each direction, in BDP.
const BUFFER_BDP: u32 = 3;
const UPLOADS: usize = 4;
/// Longer than any run that goes on.
const HANGS: Duration = Duration::from_secs(60);
/// What a run takes, for the progress.
const USUAL: Duration = Duration::from_secs(27);

/// What runs beside the page loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Background {
    Nothing,
    Plain,
    Netnice,
}

impl Background {
    const ALL: [Self; 3] = [Self::Nothing, Self::Plain, Self::Netnice];

    /// For how long pages are fetched.
    fn lasts(self) -> Duration {
        Duration::from_secs(if self == Self::Nothing { 4 } else { 7 })
    }

    fn title(self) -> &'static str {
        match self {
            Self::Nothing => "alone",
            Self::Plain => "beside plain uploads",
            Self::Netnice => "beside netnice uploads",
        }
    }
}

/// What the user's process on the line tells.
#[derive(Debug, Serialize, Deserialize)]
enum Event {
    Phase(Background),
    Page { at: f64, ms: f64 },
    Lost,
    Uploads { bps: f64 },
}

/// What the first process waits for.
enum Next {
    Told(Event),
    Interrupted(Signal),
    /// The line has ended: what it complained of.
    Ended(String),
}

/// Page loads beside one background.
#[derive(Debug, Serialize)]
pub struct Phase {
    background: Background,
    mean_ms: Option<f64>,
    p95_ms: Option<f64>,
    /// Pages that had not come after 5 s.
    lost: usize,
    uploads_bps: Option<f64>,
    /// Seconds since the phase began, and milliseconds that the page took.
    pages: Vec<(f64, f64)>,
}

#[derive(Debug, Serialize)]
pub struct Demo {
    rate_bps: u32,
    rtt_ms: u32,
    buffer_bdp: u32,
    uploads: usize,
    phases: Vec<Phase>,
    /// Why the figures are doubtful; empty if the machine kept the line's time.
    remarks: Vec<String>,
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
    show("load netnice");
    let _loaded = Loaded::ensure(&mut Part::Guard.command()?)?;
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
            Err(_) => bail!("the demonstration hangs: nothing has come over the emulated line.\nRun it again."),
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

impl Demo {
    fn new() -> Self {
        Self {
            rate_bps: RATE_MBIT * 1_000_000,
            rtt_ms: RTT_MS,
            buffer_bdp: BUFFER_BDP,
            uploads: UPLOADS,
            phases: Vec::new(),
            remarks: Vec::new(),
        }
    }

    fn add(&mut self, event: Event) {
        if let Event::Phase(background) = event {
            self.phases.push(Phase {
                background,
                mean_ms: None,
                p95_ms: None,
                lost: 0,
                uploads_bps: None,
                pages: Vec::new(),
            });
            return;
        }
        let Some(phase) = self.phases.last_mut() else { return };
        match event {
            Event::Page { at, ms } => phase.pages.push((at, ms)),
            Event::Lost => phase.lost += 1,
            Event::Uploads { bps } => phase.uploads_bps = Some(bps),
            Event::Phase(_) => {}
        }
        let times = || phase.pages.iter().map(|(_, ms)| *ms);
        (phase.mean_ms, phase.p95_ms) = (mean(times()), p95(times()));
    }
}

impl Display for Demo {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let bar = |phase: &Phase| Bar {
            title: phase.background.title(),
            ms: phase.mean_ms,
            background_bps: phase.uploads_bps,
        };
        let bars: Vec<Bar> = self.phases.iter().map(bar).collect();
        writeln!(
            f,
            "How long a page takes on an emulated line, {RATE_MBIT} Mbit/s and {RTT_MS} ms, and what\n\
             {UPLOADS} uploads get meanwhile:\n\n{}",
            Bars(&bars)
        )?;
        let lost: usize = self.phases.iter().map(|phase| phase.lost).sum();
        if lost > 0 {
            writeln!(f, "Pages that had not come after 5 s, and are left out: {lost}\n")?;
        }
        self.remarks.iter().try_for_each(|remark| writeln!(f, "{remark}"))?;
        writeln!(f, "On your own line: sudo netnicectl try URL")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demo() -> Demo {
        let mut demo = Demo::new();
        for (background, ms, bps) in [
            (Background::Nothing, 150.0, None),
            (Background::Plain, 450.0, Some(9.4e6)),
            (Background::Netnice, 165.0, Some(9e6)),
        ] {
            demo.add(Event::Phase(background));
            for at in [1.0, 2.0] {
                demo.add(Event::Page { at, ms: ms + at });
            }
            if let Some(bps) = bps {
                demo.add(Event::Uploads { bps });
            }
        }
        demo
    }

    #[test]
    fn the_end_is_what_to_do_next() {
        let text = demo().to_string();
        assert!(
            text.ends_with("\nOn your own line: sudo netnicectl try URL\n"),
            "{text}"
        );
        assert!(
            text.contains("beside plain uploads") && text.contains("× 3.0"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn pages_that_do_not_come_are_said() {
        let mut demo = demo();
        demo.add(Event::Lost);
        assert!(demo.to_string().contains("left out: 1\n"));
        assert_eq!(demo.phases[2].pages.len(), 2);
    }

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
