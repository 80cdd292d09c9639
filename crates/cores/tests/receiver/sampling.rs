// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What came since the last ACK, as TCP's own counters tell it.

use netnice_cores::receiver::{sample, Core, Counted, Noted, Segment};

const MSS: u32 = 1448;
const JIFFY_US: u32 = 4000;

/// A connection whose segments are all full, and what was sampled of it.
struct Connection {
    tcp: Noted,
    last: Counted,
}

impl Connection {
    fn new() -> Self {
        let tcp = Noted {
            came_us: 1_000_000,
            now_us: 1_000_000,
            jiffy_us: JIFFY_US,
            next: 1,
            mss: MSS,
            stamped: 1,
            ..Noted::default()
        };
        let last = Counted {
            next: 1,
            ..Counted::default()
        };
        Self { tcp, last }
    }

    fn segments(&mut self, count: u32) {
        self.tcp.segments += count;
        self.tcp.next += count * MSS;
    }

    fn sample(&mut self) -> Option<Segment> {
        sample(&mut self.last, &self.tcp)
    }
}

#[test]
fn two_segments_are_one_sample_with_the_stamps_of_the_newer() {
    let mut connection = Connection::new();
    connection.segments(2);
    (connection.tcp.tsval, connection.tcp.tsecr) = (77, 990);
    let found = connection.sample().expect("something came");
    let expected = Segment {
        now_us: 1_000_000,
        clock: 1_000_000,
        seq: 1,
        bytes: 2 * MSS,
        segments: 2,
        stamped: 1,
        tsval: 77,
        tsecr: 990_000,
    };
    assert_eq!(found, expected);
    assert_eq!(connection.sample(), None, "nothing came since");
}

#[test]
fn the_clock_is_that_of_whole_milliseconds() {
    let mut connection = Connection::new();
    connection.segments(1);
    connection.tcp.came_us = 5_000_999;
    let found = connection.sample().expect("a segment");
    assert_eq!((found.now_us, found.clock), (5_000_999, 5_000_000));
}

#[test]
fn timestamps_of_microseconds_echo_the_same_millisecond() {
    for came_us in [7_000_123, (1 << 32) + 5, (1 << 40) + 999] {
        let mut connection = Connection::new();
        connection.segments(1);
        connection.tcp.came_us = came_us;
        (connection.tcp.fine, connection.tcp.tsecr) = (1, (came_us - 40_000) as u32);
        let found = connection.sample().expect("a segment");
        assert_eq!(found.clock.wrapping_sub(found.tsecr), 40_000, "{came_us}");
    }
}

#[test]
fn what_waits_for_its_socket_is_counted_once() {
    let mut connection = Connection::new();
    connection.segments(1);
    connection.tcp.segments += 9; // in the backlog
    let first = connection.sample().expect("a segment");
    assert_eq!((first.bytes, first.segments), (MSS, 1));
    connection.tcp.next += 9 * MSS;
    let rest = connection.sample().expect("the backlog");
    assert_eq!((rest.bytes, rest.segments), (9 * MSS, 9));
}

#[test]
fn a_hole_is_seen_once_and_what_fills_it_is_none() {
    let mut connection = Connection::new();
    let mut core = Core::new("tide");
    let mut holes = Vec::new();
    let mut feed = |connection: &mut Connection, segments: u32, gap: u32, fills: u32| {
        connection.tcp.segments += segments;
        connection.tcp.next += fills * MSS;
        connection.tcp.gap = gap;
        connection.tcp.tsval += 1;
        let segment = connection.sample().expect("something came");
        core.arrival(&segment);
        holes.push(core.look().lost);
    };
    feed(&mut connection, 1, 0, 1);
    feed(&mut connection, 1, 1, 0); // behind a hole
    feed(&mut connection, 1, 1, 0);
    feed(&mut connection, 1, 0, 3); // fills it
    feed(&mut connection, 2, 0, 2);
    assert_eq!(holes, [0, 1, 1, 1, 1]);
}

#[test]
fn an_ack_of_the_timer_tells_of_the_jiffy_in_which_its_data_came() {
    let mut connection = Connection::new();
    connection.segments(1);
    connection.tcp.jiffies = 10;
    let late = connection.sample().expect("a segment");
    assert_eq!(late.now_us, 1_000_000 - 10 * JIFFY_US + JIFFY_US / 2);
}

#[test]
fn a_late_reader_does_not_change_when_its_data_came() {
    let mut connection = Connection::new();
    connection.segments(1);
    connection.tcp.jiffies = 10;
    connection.tcp.now_us += 40_000; // TCP has not looked at the clock since
    assert_eq!(connection.sample().expect("a segment").now_us, 1_000_000);
}

#[test]
fn behind_a_hole_every_segment_is_acknowledged_at_once() {
    let mut connection = Connection::new();
    connection.tcp.segments += 1;
    connection.tcp.gap = 1;
    connection.tcp.jiffies = 10; // since data came in order
    assert_eq!(connection.sample().expect("a segment").now_us, 1_000_000);
}
