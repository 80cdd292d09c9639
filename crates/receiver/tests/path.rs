// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The receivers on a path of one queue: who fills it, who leaves it, whose clock runs wrong.

use std::collections::VecDeque;

use netnice_receiver::{Core, Segment, ALGORITHMS, PARAMETERS};

const MSS: u32 = 1448;
/// Microseconds that a segment takes at 10 Mbit/s.
const SERVICE: u64 = 1211;
const BUFFER: u64 = 86;
/// What the kernel would advertise, bytes.
const KERNEL: u32 = 60 * MSS;

/// A sender that always fills the window, a queue of 86 packets, a receiver that acknowledges every second segment.
struct Path {
    core: Core,
    rtt: u64,
    /// The peer's clock ticks in so many microseconds, and runs this much fast, in millionths.
    tick: u64,
    drift: i64,
    stamps: bool,
    now: u64,
    /// When the queue will be empty.
    busy: u64,
    next: u32,
    acked: u32,
    edge: u32,
    delivered: u64,
    queue_sum: u64,
    /// Segments on their way: arrival, sequence, sent, the clock they echo.
    flight: VecDeque<(u64, u32, u64, u64)>,
    /// ACKs on their way: arrival, right edge, clock.
    acks: VecDeque<(u64, u32, u64)>,
}

impl Path {
    fn new(algorithm: &str) -> Self {
        let mut core = Core::new(algorithm);
        core.ack(0, 0, 0);
        let acks = VecDeque::from([(1_000_000, 10 * MSS, 900_000)]);
        Path {
            core,
            rtt: 100_000,
            tick: 1000,
            drift: 0,
            stamps: true,
            now: 1_000_000,
            busy: 0,
            next: 0,
            acked: 0,
            edge: 0,
            delivered: 0,
            queue_sum: 0,
            flight: VecDeque::new(),
            acks,
        }
    }

    fn send(&mut self, echoed: u64) {
        while (self.edge.wrapping_sub(self.next) as i32) >= MSS as i32 {
            let begins = self.busy.max(self.now);
            if begins - self.now > BUFFER * SERVICE {
                if self.acks.is_empty() && self.flight.is_empty() {
                    self.acks.push_back((self.now + 200_000, self.edge, echoed));
                    // lost: after a timeout
                }
                return;
            }
            self.queue_sum += begins - self.now;
            self.busy = begins + SERVICE;
            self.flight
                .push_back((self.busy, self.next, self.now, echoed));
            self.next = self.next.wrapping_add(MSS);
        }
    }

    /// Runs for `us`; `stranger` packets a millisecond join the queue. Returns (part of the link used, mean queue in us).
    fn run(&mut self, us: u64, stranger: f64) -> (f64, u64) {
        let (end, mut joined) = (self.now + us, 0.0);
        (self.delivered, self.queue_sum) = (0, 0);
        while self.now < end {
            let before = self.now;
            let arrival = self.flight.front().map_or(u64::MAX, |f| f.0);
            let ack = self.acks.front().map_or(u64::MAX, |a| a.0);
            self.now = arrival.min(ack).min(self.now + 1000).max(self.now);
            joined += (self.now - before) as f64 / 1000.0 * stranger;
            while joined >= 1.0 {
                joined -= 1.0;
                if self.busy.saturating_sub(self.now) < BUFFER * SERVICE {
                    self.busy = self.busy.max(self.now) + SERVICE;
                }
            }
            if self.now == arrival {
                self.arrive();
            } else if self.now == ack {
                let (_, edge, clock) = self.acks.pop_front().expect("it is there");
                if (edge.wrapping_sub(self.edge) as i32) > 0 {
                    self.edge = edge;
                }
                self.send(clock);
            }
        }
        let sent = self.delivered.max(1);
        (
            (self.delivered * SERVICE) as f64 / us as f64,
            self.queue_sum / sent,
        )
    }

    fn arrive(&mut self) {
        let (_, seq, sent, echoed) = self.flight.pop_front().expect("it is there");
        let theirs = (sent as i64 + sent as i64 / 1000 * self.drift / 1000) as u64;
        let clock = self.now / 1000 * 1000;
        self.core.arrival(&Segment {
            now_us: self.now as u32,
            seq,
            bytes: MSS,
            segments: 1,
            stamped: self.stamps.into(),
            tsval: (theirs / self.tick) as u32,
            tsecr: (echoed / 1000 * 1000) as u32,
            clock: clock as u32,
        });
        self.delivered += 1;
        let end = seq.wrapping_add(MSS);
        if end.wrapping_sub(self.acked) >= 2 * MSS || self.flight.is_empty() {
            let window = match self.core.ack(end, clock as u32, self.now as u32) {
                0 => KERNEL,
                window => window,
            };
            self.acked = end;
            self.acks
                .push_back((self.now + self.rtt, end.wrapping_add(window), self.now));
        }
    }
}

const SECOND: u64 = 1_000_000;

#[test]
fn tide_fills_an_idle_path_and_keeps_its_queue_short() {
    let mut path = Path::new("tide");
    path.run(5 * SECOND, 0.0);
    let (used, queue) = path.run(20 * SECOND, 0.0);
    assert!(used > 0.97, "uses {used}");
    assert!(queue < 20_000, "queue of {queue} us");
}

#[test]
fn tide_leaves_when_a_stranger_fills_the_path_and_comes_back() {
    let mut path = Path::new("tide");
    path.run(10 * SECOND, 0.0);
    path.run(SECOND, 1.0);
    let (used, _) = path.run(5 * SECOND, 1.0);
    assert!(used < 0.05, "still uses {used}");
    path.run(2 * SECOND, 0.0);
    let (used, _) = path.run(5 * SECOND, 0.0);
    assert!(used > 0.95, "came back to {used}");
}

#[test]
fn clocks_that_drift_for_an_hour_change_nothing() {
    for drift in [-100, 100] {
        let mut path = Path::new("tide");
        path.drift = drift;
        path.run(3600 * SECOND, 0.0);
        let (used, queue) = path.run(60 * SECOND, 0.0);
        assert!(
            used > 0.95 && queue < 25_000,
            "drift {drift}: {used}, {queue} us"
        );
    }
}

#[test]
fn peers_of_every_tick_are_understood() {
    for tick in [1, 1000, 4000, 10_000] {
        let mut path = Path::new("tide");
        path.tick = tick;
        path.run(10 * SECOND, 0.0);
        let (used, queue) = path.run(20 * SECOND, 0.0);
        assert_eq!(u64::from(path.core.look().tick), tick);
        assert!(
            used > 0.9 && queue < 30_000,
            "tick {tick}: {used}, {queue} us"
        );
    }
}

#[test]
fn a_peer_without_timestamps_is_judged_by_round_trips() {
    let mut path = Path::new("tide");
    path.stamps = false;
    path.run(10 * SECOND, 0.0);
    let (used, queue) = path.run(20 * SECOND, 0.0);
    assert!(used > 0.85 && queue < 60_000, "{used}, {queue} us");
    path.run(2 * SECOND, 1.0);
    let (used, _) = path.run(5 * SECOND, 1.0);
    assert!(used < 0.1, "still uses {used}");
}

#[test]
fn every_receiver_uses_an_idle_path() {
    for algorithm in ALGORITHMS {
        let mut path = Path::new(algorithm.name);
        path.run(60 * SECOND, 0.0);
        let (used, _) = path.run(30 * SECOND, 0.0);
        // the paper's figure 2: whoever yields to his own queue too wastes most of the path
        let wasteful = algorithm.name == "vulture_cautious";
        assert_eq!(used > 0.6, !wasteful, "{}: {used}", algorithm.name);
    }
}

#[test]
fn rledbat_keeps_to_its_target() {
    let mut path = Path::new("rledbat");
    path.run(60 * SECOND, 0.0);
    let (_, queue) = path.run(60 * SECOND, 0.0);
    assert!((20_000..80_000).contains(&queue), "{queue} us");
}

#[test]
fn a_flow_that_becomes_background_starts_from_the_senders_window() {
    let mut path = Path::new("tide");
    let row = path.core.chosen.take();
    path.run(3 * SECOND, 0.0);
    let estimate = path.core.look().estimate / MSS;
    assert!(
        (56..=62).contains(&estimate),
        "estimate {estimate} segments"
    );
    path.core.chosen = row;
    path.run(SECOND / 20, 0.0);
    let window = path.core.look().window / MSS;
    assert!((56..=64).contains(&window), "window {window} segments");
}

#[test]
fn off_gives_the_window_back_to_the_kernel() {
    let mut path = Path::new("tide");
    path.run(SECOND, 0.0);
    path.core.chosen = None;
    path.run(200_000, 0.0);
    assert_eq!(
        path.core.ack(path.acked, path.now as u32, path.now as u32),
        0
    );
}

#[test]
fn skew_is_a_parameter_for_measurement_only() {
    let at = PARAMETERS
        .iter()
        .position(|p| p.name == "skew")
        .expect("skew");
    assert!(ALGORITHMS.iter().all(|a| a.defaults[at] == 0));
}

#[test]
fn a_clock_learnt_after_the_first_segment_is_used_at_once() {
    for start in [0, 1_500_000_000, 3_000_000_000u32] {
        let mut path = Path::new("tide");
        (path.next, path.acked, path.edge) = (start, start, start);
        path.core.ack(start, 0, 0);
        path.acks[0].1 = start.wrapping_add(10 * MSS);
        path.stamps = false;
        path.run(2500, 0.0);
        path.stamps = true;
        path.run(10 * SECOND, 0.0);
        let (used, _) = path.run(10 * SECOND, 0.0);
        assert!(used > 0.95, "from {start}: uses {used}");
    }
}
