// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! COMMAND's connections, looked at a few times a second: bytes, and whether they yield. What is said of them, in a line.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display, Formatter};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use netnice_loader::senders::{family, senders, Sender};
use netnice_loader::settings::slow_above;
use netnice_loader::sockets::{flows, sockets_of, Flow};
use serde::Serialize;

const FIRST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(200);
/// Without an acknowledgement for so long a connection is starved.
const STARVED: Duration = Duration::from_secs(1);

/// A connection as it was seen last.
struct Seen {
    yields: bool,
    sent: u64,
    received: u64,
    progress: Instant,
}

pub(super) struct Tally {
    child: u32,
    level: u32,
    /// Only incoming traffic is to yield: what a connection sends says nothing.
    receives: bool,
    processes: HashSet<u32>,
    seen: HashMap<(SocketAddr, SocketAddr), Seen>,
    senders: Vec<Sender>,
    /// Of the base RTT, in percent: with more queue a segment is slow.
    slow_above: u64,
    begun: Instant,
    last: Instant,
    pause: Duration,
    /// When processes that send for it are looked for, after the start.
    next_search: Duration,
    yielded: Duration,
    starved: Duration,
}

impl Tally {
    pub(super) fn new(child: u32, level: u32, receives: bool) -> Self {
        let now = Instant::now();
        Self {
            child,
            level,
            receives,
            processes: HashSet::from([child]),
            seen: HashMap::new(),
            senders: Vec::new(),
            slow_above: slow_above().into(),
            begun: now,
            last: now,
            pause: FIRST,
            next_search: FIRST,
            yielded: Duration::ZERO,
            starved: Duration::ZERO,
        }
    }

    /// Until the next look: a short command is looked at more often than a long one.
    pub(super) fn pause(&self) -> Duration {
        self.pause
    }

    pub(super) fn look(&mut self) {
        self.processes.extend(family(self.child));
        self.processes
            .retain(|pid| netnice_loader::sockets::name_of(*pid).is_some());
        let inodes: HashSet<u32> = self.processes.iter().flat_map(|pid| sockets_of(*pid)).collect();
        let all = flows().unwrap_or_default();
        let now = Instant::now();
        let of_command = |flow: &Flow| inodes.contains(&flow.inode) || self.seen.contains_key(&ends(flow));
        let found: Vec<Flow> = all.into_iter().filter(of_command).collect();
        self.note(&found, now);
        let elapsed = now.duration_since(self.begun);
        if !self.seen.values().any(|one| one.yields) && elapsed >= self.next_search {
            self.search();
            self.next_search = elapsed * 2;
        }
        self.pause = (self.pause * 5 / 4).min(LONGEST);
    }

    fn note(&mut self, found: &[Flow], now: Instant) {
        let step = now.duration_since(self.last);
        self.last = now;
        let (mut slow, mut starved) = (false, false);
        for flow in found {
            let yields = self.receives || flow.level().is_some();
            let one = self.seen.entry(ends(flow)).or_insert(Seen {
                yields,
                sent: 0,
                received: 0,
                progress: now,
            });
            one.yields |= yields;
            if (flow.sent, flow.received) != (one.sent, one.received) || !flow.pending {
                one.progress = now;
            }
            one.sent = one.sent.max(flow.sent);
            one.received = one.received.max(flow.received);
            slow |= yields
                && u64::from(flow.queue_us()) * 100 > u64::from(flow.base_us) * self.slow_above
                && flow.base_us > 0;
            starved |= yields && now.duration_since(one.progress) >= STARVED;
        }
        if slow {
            self.yielded += step;
        }
        if starved {
            self.starved += step;
        }
    }

    fn search(&mut self) {
        let pids: Vec<u32> = self.processes.iter().copied().collect();
        for sender in senders(&pids, Some(self.level)) {
            let same = |one: &Sender| (one.pid, &one.way) == (sender.pid, &sender.way);
            if !self.senders.iter().any(same) {
                self.senders.push(sender);
            }
        }
    }

    /// After a last look, as connections outlive the command for a moment.
    pub(super) fn report(mut self, command: &str) -> Report {
        self.look();
        let all = self.seen.values();
        Report {
            command: command.to_owned(),
            connections: all.len(),
            yielded: all.clone().filter(|one| one.yields).count(),
            sent: all.clone().map(|one| one.sent).sum(),
            received: all.map(|one| one.received).sum(),
            seconds: self.begun.elapsed().as_secs_f64(),
            yielded_seconds: self.yielded.as_secs_f64(),
            starved_seconds: self.starved.as_secs_f64(),
            senders: self.senders,
        }
    }
}

fn ends(flow: &Flow) -> (SocketAddr, SocketAddr) {
    (flow.local, flow.peer)
}

/// What was seen of COMMAND's connections.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pub command: String,
    pub connections: usize,
    pub yielded: usize,
    /// Bytes of all connections.
    pub sent: u64,
    pub received: u64,
    pub seconds: f64,
    /// A connection that yielded saw a queue.
    pub yielded_seconds: f64,
    /// A connection that yielded had data to send, and none was acknowledged for a second.
    pub starved_seconds: f64,
    /// Processes that send for it.
    pub senders: Vec<Sender>,
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            command,
            connections,
            yielded,
            ..
        } = self;
        match (connections, yielded) {
            (0, _) => write!(f, "{command}: no connection of it yielded: none was seen")?,
            (all, 0) => write!(f, "{command}: no connection of it yielded: {all} in the foreground")?,
            (all, yielded) => write!(f, "{command}: {yielded} of {all} connections yielded")?,
        }
        write!(
            f,
            ", {} sent, {} received in {:.1} s; yielded for {:.1} s, starved for {:.1} s",
            size(self.sent),
            size(self.received),
            self.seconds,
            self.yielded_seconds,
            self.starved_seconds
        )?;
        match self.yielded {
            0 => self.senders.iter().try_for_each(|sender| write!(f, "; {sender}")),
            _ => Ok(()),
        }
    }
}

/// Bytes as a person reads them.
fn size(bytes: u64) -> String {
    let mut number = bytes as f64;
    let mut units = ["B", "kB", "MB", "GB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for next in units {
        if number < 1000.0 {
            break;
        }
        (number, unit) = (number / 1000.0, next);
    }
    match unit {
        "B" => format!("{bytes} B"),
        _ => format!("{number:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use netnice_loader::senders::Way;

    use super::*;

    #[test]
    fn one_line() {
        let report = Report {
            command: "rsync".to_owned(),
            connections: 3,
            yielded: 2,
            sent: 12_345_678,
            received: 999,
            seconds: 12.34,
            yielded_seconds: 3.0,
            ..Report::default()
        };
        assert_eq!(
            report.to_string(),
            "rsync: 2 of 3 connections yielded, 12.3 MB sent, 999 B received in 12.3 s; \
             yielded for 3.0 s, starved for 0.0 s"
        );
    }

    #[test]
    fn the_process_that_sends_is_named_if_none_yielded() {
        let sender = Sender {
            pid: Some(4711),
            program: "ssh".to_owned(),
            way: Way::SshMaster,
            level: None,
            asked_by: Some(0),
        };
        let mut report = Report {
            command: "rsync".to_owned(),
            senders: vec![sender],
            ..Report::default()
        };
        let said = report.to_string();
        assert!(said.starts_with("rsync: no connection of it yielded"), "{said}");
        assert!(said.contains("process 4711 (ssh) sends for it"), "{said}");
        report.yielded = 1;
        report.connections = 1;
        assert!(!report.to_string().contains("4711"));
    }
}
