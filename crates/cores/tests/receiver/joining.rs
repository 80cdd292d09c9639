// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A connection that is in use begins to yield: it is watched first, then takes its sender's window (Vulture, figure 13).

use std::collections::VecDeque;

use crate::arriving::{full, ticked, MSS};
use netnice_cores::receiver::{Core, Segment, ALGORITHMS};

const RTT: u32 = 50_000;
/// Of the sender, segments.
const WINDOW: u32 = 60;

/// A sender of a constant window, evenly spaced, on a path without a queue; every second segment is acknowledged.
struct Use {
    core: Core,
    now: u32,
    seq: u32,
    timestamps: bool,
    /// Windows that went out with the ACKs: time, acknowledgement, window (0: the kernel's).
    told: Vec<(u32, u32, u32)>,
    /// Times at which ACKs left, with what they acknowledge.
    acks: VecDeque<(u32, u32)>,
}

impl Use {
    fn new(algorithm: &str, timestamps: bool) -> Self {
        let mut core = Core::new(algorithm);
        core.join(7 * MSS);
        Self {
            core,
            now: 1_000_000,
            seq: 7 * MSS,
            timestamps,
            told: Vec::new(),
            acks: VecDeque::new(),
        }
    }

    fn run(&mut self, us: u32) {
        let end = self.now + us;
        while self.now < end {
            self.now += RTT / WINDOW;
            let sent = self.now - RTT / 2;
            // What the sender had seen when it sent this: the newest ACK that left half a round trip before that.
            while self.acks.get(1).is_some_and(|a| a.0 + RTT / 2 <= sent) {
                self.acks.pop_front();
            }
            let echoed = self.acks.front().map_or(self.now - RTT, |a| a.0);
            self.core.arrival(&Segment {
                stamped: self.timestamps.into(),
                ..full(self.now, self.seq, sent / 1000, echoed)
            });
            self.seq += MSS;
            if self.seq / MSS % 2 == 0 {
                let window = self.core.ack(self.seq, ticked(self.now), self.now);
                self.told.push((self.now, self.seq, window));
                self.acks.push_back((self.now, self.seq));
            }
        }
    }

    fn began(&self) -> Option<u32> {
        self.told.iter().find(|t| t.2 > 0).map(|t| t.0 - 1_000_000)
    }
}

#[test]
fn it_takes_the_senders_window() {
    for a in ALGORITHMS {
        let mut flow = Use::new(a.name, true);
        flow.run(RTT * 4);
        let began = flow.began().expect("it yields");
        assert!((RTT..RTT * 4).contains(&began), "{} {began}", a.name);
        let first = flow.told.iter().find(|t| t.2 > 0).expect("a window").2;
        let right = (WINDOW * MSS * 85 / 100)..(WINDOW * MSS * 115 / 100);
        assert!(
            right.contains(&first),
            "{}: {} segments",
            a.name,
            first / MSS
        );
    }
}

#[test]
fn while_it_is_watched_the_window_is_the_kernels() {
    let mut flow = Use::new("tide", true);
    flow.run(RTT);
    assert!(flow.told.iter().all(|t| t.2 == 0));
    assert!(flow.core.look().estimate > 0);
}

/// Without timestamps there are no rounds to watch: after a second it begins, as a new connection does.
#[test]
fn without_timestamps_it_begins_as_new() {
    for a in ALGORITHMS {
        let mut flow = Use::new(a.name, false);
        flow.run(3_000_000);
        let began = flow.began().expect("it yields");
        assert!((900_000..1_200_000).contains(&began), "{} {began}", a.name);
        let first = flow.told.iter().find(|t| t.2 > 0).expect("a window").2;
        assert!(
            (10 * MSS..=12 * MSS).contains(&first),
            "{}: {first}",
            a.name
        );
    }
}

/// Off while it is watched: it never begins.
#[test]
fn off_wins() {
    let mut flow = Use::new("tide", true);
    flow.run(RTT);
    flow.core.chosen = None;
    flow.run(RTT * 10);
    assert_eq!(flow.began(), None);
}
