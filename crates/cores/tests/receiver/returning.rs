// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What TIDE remembers of a path while a stranger has it, and how it goes back there.

use crate::arriving::{full, ticked, MSS};
use netnice_cores::receiver::Core;

/// Microseconds: the shortest way, and between two segments at 10 Mbit/s.
const RTT: u32 = 100_000;
const APART: u32 = 1211;
/// Of a queue: one's own may be so long, a stranger's is longer.
const OWN: u32 = 8000;
const FOREIGN: u32 = 40_000;

/// Segments that come evenly, as many as the path can carry, whatever the window is; all are acknowledged.
struct Stream {
    core: Core,
    now: u32,
    next: u32,
}

impl Stream {
    /// It has found the path's window, and left it to a stranger.
    fn at_the_floor() -> Self {
        let mut stream = Stream {
            core: Core::new("tide"),
            now: 1_000_000,
            next: 0,
        };
        stream.rounds(20, 0);
        assert!(stream.target() >= 80, "{} segments", stream.target());
        stream.rounds(20, FOREIGN);
        assert_eq!(stream.target(), 1);
        stream
    }

    fn rounds(&mut self, count: u32, queue: u32) {
        let end = self.now + count * (RTT + queue);
        while self.now < end {
            let (sent, echoed) = (self.now - RTT / 2 - queue, self.now - RTT - queue);
            self.core
                .arrival(&full(self.now, self.next, sent / 1000, echoed));
            self.next += MSS;
            self.core.ack(self.next, ticked(self.now), self.now);
            self.now += APART;
        }
    }

    /// Clear rounds, until it has come back to some of the path.
    fn come_back(&mut self, segments: u32) -> u32 {
        (1..)
            .find(|_| {
                self.rounds(1, 0);
                self.target() >= segments
            })
            .expect("it comes back")
    }

    fn target(&self) -> u32 {
        self.core.look().target / MSS
    }
}

#[test]
fn a_queue_on_the_way_back_does_not_make_it_creep() {
    let mut stream = Stream::at_the_floor();
    stream.come_back(9);
    stream.rounds(2, OWN);
    let rounds = stream.come_back(60);
    assert!(rounds <= 3, "{rounds} rounds");
}

#[test]
fn a_stranger_who_comes_again_halves_what_is_remembered() {
    let mut stream = Stream::at_the_floor();
    stream.rounds(2, 0);
    stream.rounds(1, 3000); // not clear: it creeps from here on
    stream.rounds(20, FOREIGN);
    let rounds = stream.come_back(30);
    assert!(rounds <= 6, "{rounds} rounds");
}
