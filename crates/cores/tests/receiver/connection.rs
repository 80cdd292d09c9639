// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A connection that begins, joins others, says what it wants, and returns.

use std::collections::VecDeque;

use netnice_cores::receiver::Wish::{Application, Netnice, Nobody};
use netnice_cores::receiver::{clamp_of, limits_scale, own_clamp, Core, Segment, ALGORITHMS};

use super::simulated::{full, ticked, MSS};

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

    /// When the window first exceeded the segment of a flow that is still measured, and that window.
    fn began(&self) -> Option<(u32, u32)> {
        self.told.iter().find(|t| t.2 > MSS).map(|t| (t.0 - 1_000_000, t.2))
    }
}

#[test]
fn it_takes_the_senders_window() {
    for a in ALGORITHMS.iter().filter(|a| a.name != "tide") {
        let mut flow = Use::new(a.name, true);
        flow.run(RTT * 4);
        let (began, first) = flow.began().expect("it yields");
        assert!((RTT..RTT * 4).contains(&began), "{} {began}", a.name);
        let right = (WINDOW * MSS * 85 / 100)..(WINDOW * MSS * 115 / 100);
        assert!(right.contains(&first), "{}: {} segments", a.name, first / MSS);
    }
}

/// TIDE begins at the least window, and stays while the sender uses up what it had been granted.
#[test]
fn tide_grants_nothing_until_all_is_used_up() {
    let mut flow = Use::new("tide", true);
    flow.run(RTT * 20);
    assert!(flow.told.iter().all(|t| t.2 > 0 && t.2 <= 2 * MSS));
}

#[test]
fn while_it_is_watched_nothing_more_is_granted() {
    for a in ALGORITHMS {
        let mut flow = Use::new(a.name, true);
        flow.run(RTT);
        assert!(flow.told.iter().all(|t| t.2 == MSS), "{}", a.name);
        assert!(flow.core.look().estimate > 0);
    }
}

/// Without timestamps there are no rounds to watch: after a second it begins, as a new connection does.
#[test]
fn without_timestamps_it_begins_as_new() {
    for a in ALGORITHMS {
        let mut flow = Use::new(a.name, false);
        flow.run(3_000_000);
        let (began, first) = flow.began().expect("it yields");
        assert!((900_000..1_200_000).contains(&began), "{} {began}", a.name);
        assert!((10 * MSS..=12 * MSS).contains(&first), "{}: {first}", a.name);
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
    assert_eq!(flow.told.last().expect("an ACK").2, 0, "the kernel's");
}

#[test]
fn the_lesser_of_two_clamps() {
    let none = 1 << 30;
    for (window, own, clamp) in [
        (0, 0, none),
        (5000, 0, 5000),
        (0, 7000, 7000),
        (5000, 7000, 5000),
        (9000, 7000, 7000),
    ] {
        assert_eq!(clamp_of(window, own), clamp, "{window} {own}");
    }
}

/// Bytes, of a receive buffer: the kernel's clamp is about half of it.
#[test]
fn an_applications_own_clamp() {
    assert_eq!(own_clamp(65_536, 131_072), 0);
    assert_eq!(own_clamp(20_000, 131_072), 20_000);
}

/// None, the widest that a scale of 10 can tell, and an application's own.
#[test]
fn whose_window_scale_is_limited() {
    let widest = 65_535 << 8;
    assert_eq!(
        [0, widest + 1, widest, 20_000].map(limits_scale),
        [true, true, false, false]
    );
}

/// Microseconds: the shortest way, and between two segments at 10 Mbit/s.
const LONG_RTT: u32 = 100_000;
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
        let end = self.now + count * (LONG_RTT + queue);
        while self.now < end {
            let (sent, echoed) = (self.now - LONG_RTT / 2 - queue, self.now - LONG_RTT - queue);
            self.core.arrival(&full(self.now, self.next, sent / 1000, echoed));
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

/// A flow that acknowledges each segment, and the sequence it has reached.
struct Flow {
    core: Core,
    seq: u32,
}

impl Flow {
    fn new() -> Self {
        let mut flow = Flow {
            core: Core::new("tide"),
            seq: 0,
        };
        flow.next();
        flow
    }

    /// One more segment and its ACK.
    fn next(&mut self) -> u32 {
        let now = 10_000 + self.seq / MSS;
        self.core.arrival(&full(now, self.seq, now / 1000, 9_000));
        self.seq += MSS;
        self.core.ack(self.seq, ticked(now), now)
    }
}

#[test]
fn a_window_that_changes_is_told_at_once() {
    let mut flow = Flow::new();
    for window in [100_000, 100_001, 99_999, 2_896, 50_000_000, MSS] {
        assert!(flow.core.tell(window), "{window}");
        assert!(!flow.core.tell(window), "{window}, again");
    }
}

#[test]
fn one_that_does_not_is_told_again_for_each_256th_that_is_acknowledged() {
    let mut flow = Flow::new();
    let window = 256 * 10 * MSS;
    assert!(flow.core.tell(window));
    let told: Vec<_> = (1..=40)
        .filter(|_| {
            flow.next();
            flow.core.tell(window)
        })
        .collect();
    assert_eq!(told, [10, 20, 30, 40]);
}

#[test]
fn windows_of_up_to_256_segments_are_told_with_each_ack() {
    let mut flow = Flow::new();
    for window in [2 * MSS, 256 * MSS] {
        assert!(flow.core.tell(window));
        flow.next();
        assert!(flow.core.tell(window), "{window}");
    }
}

#[test]
fn the_kernel_gets_its_window_back_once() {
    let mut flow = Flow::new();
    assert!(!flow.core.tell(0), "it never lost it");
    assert!(flow.core.tell(MSS));
    assert!(flow.core.tell(0));
    flow.next();
    assert!(!flow.core.tell(0));
}

#[test]
fn an_application_takes_back_only_what_it_wished_itself() {
    assert!(Nobody.may_stop(false));
    assert!(Application.may_stop(false));
    assert!(!Netnice.may_stop(false));
}

#[test]
fn nobody_leaves_a_levels_cgroup_by_himself() {
    for wish in [Nobody, Application, Netnice] {
        assert!(!wish.may_stop(true), "{wish:?}");
    }
}

#[test]
fn asking_does_not_weaken_what_the_administrator_began() {
    assert_eq!(Nobody.and_application(), Application as u32);
    assert_eq!(Application.and_application(), Application as u32);
    assert_eq!(Netnice.and_application(), Netnice as u32);
}
