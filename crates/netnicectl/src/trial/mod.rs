// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnicectl try`: latency on one's own line while nothing, a plain and a netnice download runs.

mod download;
mod probe;
mod result;

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use nix::sys::signal::Signal;

use crate::processes::{require_root, send_signals, Loaded};
use crate::progress::Progress;
pub use download::Url;
use download::{require_curl, Download};
use probe::{probe, targets, Target};
use result::{latency, Kind, Phase, Trial};

/// Without a download.
const IDLE: Duration = Duration::from_secs(5);
/// Of a download, to find the line's rate; not measured. At most a third of it.
const BEGINNING: Duration = Duration::from_secs(3);
/// What was on its way comes in.
const PAUSE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);
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
    let _loaded = Loaded::ensure(guard, || progress.show(0.0, "load netnice"))?;
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
