// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What rLEDBAT takes for a loss, and what it waits for before it takes more from its window (RFC 9840).

use super::simulated::{full, ticked, Path, MSS, SECOND};
use netnice_cores::receiver::{Core, Segment};

/// Microseconds: the shortest way, and between two segments at 10 Mbit/s.
const RTT: u32 = 100_000;
const APART: u32 = 1211;

/// Segments that come evenly, `queue` us late, each an answer to what left a round trip before; all are acknowledged.
struct Stream {
    core: Core,
    now: u32,
    next: u32,
}

impl Stream {
    /// The queue was empty once; since then the sender's window fills it up to `queue`.
    fn new() -> Self {
        Stream {
            core: Core::new("rledbat"),
            now: 1_000_000,
            next: 0,
        }
    }

    fn segment(&self, seq: u32, queue: u32) -> Segment {
        let sent = self.now - RTT / 2 - queue;
        full(self.now, seq, sent / 1000, self.now - RTT - queue)
    }

    fn arrive(&mut self, segment: &Segment) {
        self.now += APART;
        self.core.arrival(segment);
        self.core.ack(self.next, ticked(self.now), self.now);
    }

    fn run(&mut self, us: u32, queue: u32) {
        let end = self.now + us;
        while self.now < end {
            let segment = self.segment(self.next, queue);
            self.next += MSS;
            self.arrive(&segment);
        }
    }

    fn target(&self) -> u32 {
        self.core.look().target / MSS
    }
}

#[test]
fn alone_it_uses_nine_tenths_of_the_path() {
    let mut path = Path::new("rledbat");
    path.run(30 * SECOND, 0.0);
    let (used, _) = path.run(60 * SECOND, 0.0);
    assert!(used > 0.9, "uses {used}");
}

#[test]
fn a_segment_that_was_overtaken_is_no_loss() {
    let mut stream = Stream::new();
    stream.run(SECOND as u32, 0);
    let before = stream.target();
    let (late, early) = (stream.segment(stream.next, 0), stream.segment(stream.next + MSS, 0));
    stream.next += 2 * MSS;
    stream.arrive(&early);
    stream.arrive(&late);
    stream.run(3 * RTT, 0);
    assert!(stream.target() >= before, "{} of {before}", stream.target());
}

#[test]
fn a_retransmission_halves_once() {
    let mut stream = Stream::new();
    stream.run(SECOND as u32, 0);
    let (lost, before) = (stream.next, stream.target());
    stream.next += MSS;
    stream.run(RTT, 0);
    let again = stream.segment(lost, 0);
    stream.arrive(&again);
    stream.run(2 * RTT, 0);
    let after = stream.target();
    assert!((before / 2..=before / 2 + 2).contains(&after), "{before}, then {after}");
}

#[test]
fn it_takes_no_more_while_the_sender_lives_on_what_the_kernel_had_granted() {
    let mut stream = Stream::new();
    let row = stream.core.chosen.take();
    stream.run(SECOND as u32, 0);
    stream.run(SECOND as u32, 75_000);
    stream.core.chosen = row;
    stream.run(2 * SECOND as u32, 75_000);
    let window = stream.target();
    assert!((90..140).contains(&window), "{window} segments");
}
