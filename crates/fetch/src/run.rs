// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The run: every document is begun at its time, whether earlier ones have arrived or not.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rustix::time::{clock_gettime, ClockId};
use tokio::task::LocalSet;
use tokio::time::{sleep_until, timeout, Instant};

use crate::demand::Arrival;
use crate::http::Server;
use crate::report::{Document, Timeline};

const STEP_MS: u64 = 100;

/// What happened, one record an arrival in the same order.
pub struct Outcome {
    pub documents: Vec<Document>,
    pub timeline: Timeline,
    pub window_bytes: u64,
    pub started_monotonic_us: u64,
}

/// The part of the run that counts.
#[derive(Clone, Copy)]
pub struct Window {
    pub warmup: Duration,
    pub length: Duration,
    /// How long to wait for documents begun before the end.
    pub grace: Duration,
}

impl Window {
    fn contains(&self, since_start: Duration) -> bool {
        since_start >= self.warmup && since_start < self.warmup + self.length
    }
}

struct Tally {
    documents: Vec<Document>,
    steps: Vec<u64>,
    window_bytes: u64,
}

/// Fetches all arrivals from `server`; what is unfinished `window.grace` after the end is given up.
pub async fn run(server: &Server, arrivals: &[Arrival], window: Window) -> Outcome {
    let tally = Rc::new(RefCell::new(Tally {
        documents: arrivals.iter().map(|a| unfinished(a, window)).collect(),
        steps: Vec::new(),
        window_bytes: 0,
    }));
    let start = Instant::now();
    let started_monotonic_us = monotonic_us();
    let tasks = LocalSet::new();
    for (index, arrival) in arrivals.iter().copied().enumerate() {
        let (server, tally) = (server.clone(), Rc::clone(&tally));
        tasks.spawn_local(one(server, arrival, index, start, window, tally));
    }
    let limit = window.warmup + window.length + window.grace;
    // An elapsed grace is a result, not an error: the documents stay marked unfinished.
    let _ = timeout(limit, tasks).await;
    let tally = Rc::try_unwrap(tally)
        .unwrap_or_else(|_| unreachable!("all tasks are done or dropped"))
        .into_inner();
    Outcome {
        documents: tally.documents,
        timeline: Timeline {
            step_ms: STEP_MS,
            bytes: tally.steps,
        },
        window_bytes: tally.window_bytes,
        started_monotonic_us,
    }
}

async fn one(
    server: Server,
    arrival: Arrival,
    index: usize,
    start: Instant,
    window: Window,
    tally: Rc<RefCell<Tally>>,
) {
    let wanted = start + Duration::from_micros(arrival.at_us);
    sleep_until(wanted).await;
    tally.borrow_mut().documents[index].start_late_us = Some(micros(wanted.elapsed()));
    let result = server
        .fetch(arrival.bytes, |n| {
            let now = start.elapsed();
            let mut tally = tally.borrow_mut();
            let step = (now.as_millis() as u64 / STEP_MS) as usize;
            if tally.steps.len() <= step {
                tally.steps.resize(step + 1, 0);
            }
            tally.steps[step] += n;
            if window.contains(now) {
                tally.window_bytes += n;
            }
        })
        .await;
    let latency = micros(wanted.elapsed());
    let document = &mut tally.borrow_mut().documents[index];
    match result {
        Ok(()) => document.latency_us = Some(latency),
        Err(error) => document.error = Some(error.to_string()),
    }
}

fn unfinished(arrival: &Arrival, window: Window) -> Document {
    Document {
        client: arrival.client,
        scheduled_us: arrival.at_us,
        start_late_us: None,
        bytes: arrival.bytes,
        latency_us: None,
        error: None,
        measured: window.contains(Duration::from_micros(arrival.at_us)),
    }
}

fn micros(duration: Duration) -> u64 {
    duration.as_micros() as u64
}

fn monotonic_us() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1000
}
