// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnicectl try`: latency on one's own line while nothing, a plain and a netnice download runs.

mod download;
mod probe;

use std::fmt::{self, Display, Formatter};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use nix::sys::signal::Signal;
use serde::{Serialize, Serializer};

use crate::bars::{mean, p95, Bar, Bars};
use crate::processes::{require_root, send_signals, Loaded};
use crate::progress::Progress;
pub use download::Url;
use download::{require_curl, Download};
use probe::{probe, targets, Target};

/// Without a download.
const IDLE: Duration = Duration::from_secs(5);
/// Of a download, to find the line's rate; not measured. At most a third of it.
const BEGINNING: Duration = Duration::from_secs(3);
/// What was on its way comes in.
const PAUSE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);
/// Below that a plain download is no burden.
const HARMLESS: f64 = 1.2;
/// A file that ends as often is not long enough.
const SHORT: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Idle,
    Plain,
    Netnice,
}

impl Kind {
    fn title(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Plain => "plain download",
            Self::Netnice => "netnice download",
        }
    }
}

/// Latency to one target in one phase.
#[derive(Debug, Serialize)]
pub struct Latency {
    #[serde(serialize_with = "as_text")]
    to: Target,
    mean_ms: Option<f64>,
    p95_ms: Option<f64>,
    probes: usize,
    lost: usize,
}

fn as_text<S: Serializer>(target: &Target, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(target)
}

#[derive(Debug, Serialize)]
pub struct Phase {
    download: Kind,
    bps: Option<f64>,
    latency: Vec<Latency>,
    /// How often the download came to its end, and was begun again.
    restarts: usize,
}

#[derive(Debug, Serialize)]
pub struct Trial {
    url: String,
    phases: Vec<Phase>,
}

/// How it ended.
pub enum Outcome {
    Done(Trial),
    Interrupted(Signal),
}

/// Measures, each download for so long. `guard` starts what loads and unloads netnice.
pub fn run(url: &Url, each: Duration, guard: &mut Command) -> Result<Outcome> {
    require_root("try netnice on this line")?;
    require_curl()?;
    let (sender, signals) = mpsc::channel();
    send_signals(sender, |signal| signal)?;
    let mut progress = Progress::new();
    progress.show(0.0, "connect to the server");
    let targets = targets(&url.host, url.port)?;
    progress.show(0.0, "load netnice");
    let _loaded = Loaded::ensure(guard)?;
    let mut clock = Clock {
        progress,
        signals,
        begun: Instant::now(),
        all: IDLE + 2 * each + PAUSE,
    };
    let mut phases = Vec::new();
    for (kind, lasts) in [(Kind::Idle, IDLE), (Kind::Plain, each), (Kind::Netnice, each)] {
        match phase(kind, lasts, url, &targets, &mut clock)? {
            Ok(phase) => phases.push(phase),
            Err(signal) => return Ok(Outcome::Interrupted(signal)),
        }
    }
    Ok(Outcome::Done(Trial {
        url: url.text.clone(),
        phases,
    }))
}

/// Progress, and the signals that end it.
struct Clock {
    progress: Progress,
    signals: Receiver<Signal>,
    begun: Instant,
    all: Duration,
}

impl Clock {
    /// Lets so much time pass; the signal that ends it, if there is one.
    fn pass(&mut self, time: Duration, title: &str, download: Option<&mut Download>) -> Result<Option<Signal>> {
        let (end, mut download) = (Instant::now() + time, download);
        while Instant::now() < end {
            let share = self.begun.elapsed().as_secs_f64() / self.all.as_secs_f64();
            self.progress.show(share, title);
            match self
                .signals
                .recv_timeout(TICK.min(end.saturating_duration_since(Instant::now())))
            {
                Ok(signal) => return Ok(Some(signal)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(TICK),
            }
            download.as_deref_mut().map_or(Ok(()), Download::go_on)?;
        }
        Ok(None)
    }
}

fn phase(
    kind: Kind,
    lasts: Duration,
    url: &Url,
    targets: &[Target],
    clock: &mut Clock,
) -> Result<Result<Phase, Signal>> {
    let title = kind.title();
    let mut download = match kind {
        Kind::Idle => None,
        _ => Some(Download::start(url, kind == Kind::Netnice)?),
    };
    let beginning = download.as_ref().map_or(Duration::ZERO, |_| BEGINNING.min(lasts / 3));
    if let Some(signal) = clock.pass(beginning, title, download.as_mut())? {
        return Ok(Err(signal));
    }
    let before = download.as_ref().map_or(0, Download::bytes);
    let begun = Instant::now();
    let stop = AtomicBool::new(false);
    let (passed, probes) = thread::scope(|scope| {
        let stop = &stop;
        let probing: Vec<_> = targets
            .iter()
            .map(|target| scope.spawn(move || probe(target, stop)))
            .collect();
        let passed = clock.pass(lasts - beginning, title, download.as_mut());
        stop.store(true, Ordering::Relaxed);
        let bps = download
            .as_ref()
            .map(|now| (now.bytes() - before) as f64 * 8.0 / begun.elapsed().as_secs_f64());
        let joined = probing
            .into_iter()
            .map(|thread| thread.join().unwrap_or(Ok(Vec::new())));
        (passed.map(|signal| (signal, bps)), joined.collect::<Result<Vec<_>>>())
    });
    let (signal, bps) = passed?;
    if let Some(signal) = signal {
        return Ok(Err(signal));
    }
    let restarts = download.as_ref().map_or(0, |download| download.ended);
    drop(download);
    if kind == Kind::Plain {
        if let Some(signal) = clock.pass(PAUSE, title, None)? {
            return Ok(Err(signal));
        }
    }
    let latency = targets
        .iter()
        .zip(probes?)
        .map(|(target, probes)| latency(target, &probes));
    Ok(Ok(Phase {
        download: kind,
        bps,
        latency: latency.collect(),
        restarts,
    }))
}

fn latency(to: &Target, probes: &[Option<f64>]) -> Latency {
    let times = || probes.iter().copied().flatten();
    Latency {
        to: to.clone(),
        mean_ms: mean(times()),
        p95_ms: p95(times()),
        probes: probes.len(),
        lost: probes.len() - times().count(),
    }
}

impl Trial {
    /// How much longer the server takes beside the plain download.
    fn burden(&self) -> Option<f64> {
        let first = |kind| {
            let phase = self.phases.iter().find(|phase| phase.download == kind)?;
            phase.latency.first()?.mean_ms
        };
        Some(first(Kind::Plain)? / first(Kind::Idle)?)
    }

    fn remarks(&self) -> Vec<&'static str> {
        let mut said = Vec::new();
        if self.burden().is_some_and(|times| times < HARMLESS) {
            said.push(
                "The plain download delayed nothing. The server may be slower than this line, or the\n\
                 router keeps its queue short. Another URL may show more.\n",
            );
        }
        if self.phases.iter().any(|phase| phase.restarts >= SHORT) {
            said.push("The file is short: it was downloaded several times. A longer one shows more.\n");
        }
        said
    }
}

impl Display for Trial {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "Latency of this line, and what the download gets:")?;
        let targets = self.phases.first().map_or(0, |phase| phase.latency.len());
        for number in 0..targets {
            let of = |phase: &'_ Phase| Bar {
                title: phase.download.title(),
                ms: phase.latency[number].mean_ms,
                background_bps: phase.bps,
            };
            let bars: Vec<Bar> = self.phases.iter().map(of).collect();
            writeln!(f, "\n{}:\n{}", self.phases[0].latency[number].to, Bars(&bars))?;
            let lost: usize = self.phases.iter().map(|phase| phase.latency[number].lost).sum();
            if lost > 0 {
                writeln!(f, "without an answer, and left out: {lost}\n")?;
            }
        }
        self.remarks().iter().try_for_each(|remark| writeln!(f, "{remark}"))?;
        writeln!(f, "To run a program in the background: netnice COMMAND")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(plain_ms: f64) -> Trial {
        let server = Target::Server {
            name: "example.org".to_owned(),
            address: ([192, 0, 2, 1], 443).into(),
        };
        let phase = |download, ms: f64, bps| Phase {
            download,
            bps,
            latency: vec![latency(&server, &[Some(ms), None, Some(ms)])],
            restarts: 0,
        };
        Trial {
            url: "https://example.org/".to_owned(),
            phases: vec![
                phase(Kind::Idle, 20.0, None),
                phase(Kind::Plain, plain_ms, Some(48e6)),
                phase(Kind::Netnice, 22.0, Some(46e6)),
            ],
        }
    }

    #[test]
    fn bars_of_each_target() {
        let text = trial(90.0).to_string();
        assert!(text.contains("\nconnecting to example.org, port 443:\nidle "), "{text}");
        assert!(text.contains("× 4.5") && text.contains("46.0 Mbit/s"), "{text}");
        assert!(
            text.contains("left out: 3\n") && !text.contains("delayed nothing"),
            "{text}"
        );
        assert!(text.ends_with("netnice COMMAND\n"), "{text}");
    }

    #[test]
    fn a_line_without_a_queue_is_said() {
        assert!(trial(21.0).to_string().contains("delayed nothing"));
    }

    #[test]
    fn targets_are_words_in_json() {
        let json = serde_json::to_value(trial(90.0)).expect("JSON");
        assert_eq!(
            json["phases"][1]["latency"][0]["to"],
            "connecting to example.org, port 443"
        );
        assert_eq!(json["phases"][1]["latency"][0]["lost"], 1);
    }
}
