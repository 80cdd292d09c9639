// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! COMMAND's connections, looked at a few times a second: bytes, and whether they yield.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use netnice_loader::base::Bases;
use netnice_loader::live::{self, Receiving};
use netnice_loader::senders::{family, senders, Sender};
use netnice_loader::settings::slow_above;
use netnice_loader::sockets::{flows, sockets_of, Flow};

use super::line::Report;

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
    /// Its receiver tells what queue it meets.
    told: bool,
}

pub(super) struct Tally {
    child: u32,
    level: u32,
    /// Only incoming traffic is to yield: what a connection sends says nothing.
    receives: bool,
    processes: HashSet<u32>,
    seen: HashMap<(SocketAddr, SocketAddr), Seen>,
    bases: Bases,
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
            bases: Bases::default(),
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
        let own: Vec<(u32, HashSet<u32>)> = self.processes.iter().map(|pid| (*pid, sockets_of(*pid))).collect();
        let all = flows().unwrap_or_default();
        let now = Instant::now();
        let has = |inode: u32| own.iter().any(|(_, inodes)| inodes.contains(&inode));
        let of_command = |flow: &Flow| has(flow.inode) || self.seen.contains_key(&ends(flow));
        let mut found: Vec<Flow> = all.into_iter().filter(of_command).collect();
        self.bases.apply(&mut found, now);
        self.note(&found, &told(&own, &found), now);
        let elapsed = now.duration_since(self.begun);
        if !self.seen.values().any(|one| one.yields) && elapsed >= self.next_search {
            self.search();
            self.next_search = elapsed * 2;
        }
        self.pause = (self.pause * 5 / 4).min(LONGEST);
    }

    fn note(&mut self, found: &[Flow], told: &HashMap<u64, Receiving>, now: Instant) {
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
                told: false,
            });
            one.yields |= yields;
            if (flow.sent, flow.received) != (one.sent, one.received) || !flow.pending {
                one.progress = now;
            }
            one.sent = one.sent.max(flow.sent);
            one.received = one.received.max(flow.received);
            let receiver = told.get(&flow.inode.into()).filter(|receiver| receiver.yields);
            one.told |= receiver.is_some();
            // The kernel measures the round trips of what is sent.
            let queue = match is_download(flow.sent, flow.received) {
                true => receiver.and_then(|receiver| receiver.queue_us),
                false => flow.queue_us().filter(|_| !self.receives),
            };
            let is_slow = |queue: u32| u64::from(queue) * 100 > u64::from(flow.base_us) * self.slow_above;
            slow |= yields && flow.base_us > 0 && queue.is_some_and(is_slow);
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
        let yielding = || self.seen.values().filter(|one| one.yields);
        let untold = yielding()
            .filter(|one| is_download(one.sent, one.received) && !one.told)
            .count();
        Report {
            command: command.to_owned(),
            connections: all.len(),
            yielded: yielding().count(),
            untold_downloads: untold,
            sent: all.clone().map(|one| one.sent).sum(),
            received: all.map(|one| one.received).sum(),
            seconds: self.begun.elapsed().as_secs_f64(),
            yielded_seconds: (untold == 0 || untold < yielding().count()).then_some(self.yielded.as_secs_f64()),
            starved_seconds: self.starved.as_secs_f64(),
            senders: self.senders,
        }
    }
}

fn is_download(sent: u64, received: u64) -> bool {
    received > sent
}

/// What receivers know of downloads, by inode; nothing without root.
fn told(own: &[(u32, HashSet<u32>)], found: &[Flow]) -> HashMap<u64, Receiving> {
    let downloads = found.iter().filter(|flow| is_download(flow.sent, flow.received));
    let downloads: HashSet<u32> = downloads.map(|flow| flow.inode).collect();
    let holders = own.iter().filter(|(_, inodes)| !inodes.is_disjoint(&downloads));
    holders.filter_map(|(pid, _)| live::receiving(*pid)).flatten().collect()
}

fn ends(flow: &Flow) -> (SocketAddr, SocketAddr) {
    (flow.local, flow.peer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(flow: &Flow, receiver: Option<Receiving>) -> Tally {
        let mut tally = Tally::new(u32::MAX, 0, false);
        (tally.slow_above, tally.last) = (36, Instant::now());
        let told = receiver
            .map(|receiver| (flow.inode.into(), receiver))
            .into_iter()
            .collect();
        tally.note(std::slice::from_ref(flow), &told, tally.last + Duration::from_secs(1));
        tally
    }

    #[test]
    fn the_queue_of_a_download_is_as_its_receiver_has_it() {
        let upload = Flow {
            local: SocketAddr::from(([192, 0, 2, 1], 40_000)),
            peer: SocketAddr::from(([192, 0, 2, 2], 443)),
            state: "established",
            congestion_control: "netnice".to_owned(),
            inode: 1,
            pending: false,
            window: 14_480,
            rtt_us: 80_000,
            base_us: 40_000,
            base_is_doubtful: false,
            sent: 1 << 20,
            received: 0,
            dscp: 0,
            segment: 1448,
            receive_scale: 7,
            timeouts: 0,
        };
        let (sent, received) = (100, 1 << 20);
        let download = Flow {
            sent,
            received,
            ..upload.clone()
        };
        let doubtful = Flow {
            base_is_doubtful: true,
            ..upload.clone()
        };
        let receiver = |queue_us| {
            Some(Receiving {
                yields: true,
                queue_us: Some(queue_us),
            })
        };
        for (what, flow, receiver, seconds, untold) in [
            ("an upload in a queue", &upload, None, 1, 0),
            ("whose base is in doubt", &doubtful, None, 0, 0),
            ("a download, by a user", &download, None, 0, 1),
            ("by root", &download, receiver(20_000), 1, 0),
            ("by root, without a queue", &download, receiver(5_000), 0, 0),
        ] {
            let tally = seen(flow, receiver);
            assert_eq!(tally.yielded, Duration::from_secs(seconds), "{what}");
            let report = tally.report("curl");
            assert_eq!(report.untold_downloads, untold, "{what}");
            assert_eq!(report.yielded_seconds.is_none(), untold > 0, "{what}");
        }
    }
}
