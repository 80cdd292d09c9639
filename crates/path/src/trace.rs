// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Queues, throughput and drops over time, one JSON object a line.
//!
//! The first line says what the path is like and when, on the wall clock, `t` was 0. In each of the others a direction
//! has its queue at that moment and, by class, what was delivered and dropped since then.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::class::Class;
use crate::direction::{Direction, Settings};
use crate::link::{Nanos, Volume};

/// A trace being written. Lines are kept in memory and written 64 KiB at a time: a slow disk must not delay packets.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    file: BufWriter<File>,
    settings: [Settings; 2],
    started: Nanos,
    interval: Nanos,
    last: Nanos,
    next: Nanos,
    seen: [[Seen; 2]; 2],
}

/// Counters at the line before.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    delivered: Volume,
    dropped: u64,
}

#[derive(Serialize)]
struct Line {
    t: f64,
    up: Sample,
    down: Sample,
}

#[derive(Serialize)]
struct Sample {
    queue_packets: u64,
    queue_bytes: u64,
    best_effort: Flow,
    lower_effort: Flow,
}

#[derive(Serialize)]
struct Flow {
    bits_per_second: u64,
    packets: u64,
    dropped: u64,
}

impl Trace {
    /// Creates the file; its first line comes with `start`.
    pub fn create(path: &Path, interval: Duration, settings: [Settings; 2]) -> Result<Trace> {
        let file = File::create(path).with_context(|| format!("cannot create the trace {}", path.display()))?;
        Ok(Trace {
            path: path.into(),
            file: BufWriter::with_capacity(65_536, file),
            settings,
            started: 0,
            interval: interval.as_nanos() as Nanos,
            last: 0,
            next: 0,
            seen: Default::default(),
        })
    }

    /// Writes the first line: `t` counts from `started`.
    pub fn start(&mut self, started: Nanos) -> Result<()> {
        (self.started, self.last, self.next) = (started, started, started + self.interval);
        let [up, down] = &self.settings;
        let head = serde_json::json!({
            "unix_time": SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            "monotonic_time": started as f64 / 1e9,
            "interval": self.interval as f64 / 1e9,
            "up": up,
            "down": down,
        });
        self.write(&head)
    }

    /// When the next line is due.
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// Writes a line if it is time.
    pub fn tick(&mut self, now: Nanos, directions: &mut [Direction; 2]) -> Result<()> {
        if now < self.next {
            return Ok(());
        }
        let elapsed = (now - self.last) as f64 / 1e9;
        let [up, down] = directions;
        let [seen_up, seen_down] = &mut self.seen;
        let line = Line {
            t: (now - self.started) as f64 / 1e9,
            up: sample(now, elapsed, up, seen_up),
            down: sample(now, elapsed, down, seen_down),
        };
        self.last = now;
        // Lines stay on the beat, and one that was missed is not made up for.
        self.next += ((now - self.next) / self.interval + 1) * self.interval;
        self.write(&line)
    }

    /// Writes what is still in memory.
    pub fn finish(mut self) -> Result<()> {
        self.file
            .flush()
            .with_context(|| format!("cannot write the trace {}", self.path.display()))
    }

    fn write(&mut self, line: &impl Serialize) -> Result<()> {
        let context = || format!("cannot write the trace {}", self.path.display());
        serde_json::to_writer(&mut self.file, line).with_context(context)?;
        self.file.write_all(b"\n").with_context(context)
    }
}

fn sample(now: Nanos, elapsed: f64, direction: &mut Direction, seen: &mut [Seen; 2]) -> Sample {
    direction.link.advance(now);
    let queued = direction.link.queued();
    let mut flow = |class: Class| {
        let counters = direction.link.counters(class);
        let delivered = direction.delivered[class.index()];
        let dropped = counters.dropped_full.packets + counters.dropped_loss.packets;
        let before = std::mem::replace(&mut seen[class.index()], Seen { delivered, dropped });
        Flow {
            bits_per_second: ((delivered.bytes - before.delivered.bytes) as f64 * 8.0 / elapsed) as u64,
            packets: delivered.packets - before.delivered.packets,
            dropped: dropped - before.dropped,
        }
    };
    Sample {
        queue_packets: queued.packets,
        queue_bytes: queued.bytes,
        best_effort: flow(Class::BestEffort),
        lower_effort: flow(Class::LowerEffort),
    }
}
