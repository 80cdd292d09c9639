// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What holds for every receiver whatever arrives. The cores are compiled so that undefined behaviour ends the test.

use netnice_cores::receiver::{fifth, thousandth, Clock, Core, Segment, ALGORITHMS};
use proptest::prelude::*;

const MSS: u32 = 1448;
/// Bytes that some cores ask for while siblings are at their least windows too.
const BELOW: [&str; 2] = ["tide", "netnice_receiver"];
const BESIDE_SIBLINGS: u32 = 1024;
/// What TCP can scale a window to.
const MOST: u32 = 1 << 30;

fn any_segment() -> impl Strategy<Value = Segment> {
    let words = (any::<u32>(), any::<u32>(), 1..=1_000_000u32, 1..=64u32, any::<bool>());
    let clocks = (any::<u32>(), any::<u32>(), any::<u32>());
    (words, clocks).prop_map(
        |((now_us, seq, bytes, segments, stamped), (tsval, tsecr, clock))| Segment {
            now_us,
            seq,
            bytes,
            segments,
            stamped: stamped.into(),
            tsval,
            tsecr,
            clock,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any segments, any ACK numbers: there is a window, and none larger than TCP can say.
    #[test]
    fn any_samples_leave_a_usable_window(
        segments in prop::collection::vec((any_segment(), any::<u32>()), 1..200),
        row in 0..ALGORITHMS.len(),
    ) {
        let mut core = Core::new(ALGORITHMS[row].name);
        for (segment, ack) in &segments {
            core.arrival(segment);
            let window = core.ack(*ack, segment.clock, segment.now_us);
            prop_assert!((1..=MOST).contains(&window), "{window}");
        }
    }

    /// Full segments of one size, at any times, in any order, with any timestamps. Neither the window nor its target falls
    /// below the least one, except to the smaller window that some cores want beside siblings.
    #[test]
    fn no_samples_take_the_window_below_its_floor(
        segments in prop::collection::vec((any_segment(), any::<u32>()), 1..200),
        row in 0..ALGORITHMS.len(),
    ) {
        let mut core = Core::new(ALGORITHMS[row].name);
        for (segment, ack) in &segments {
            core.arrival(&Segment { bytes: MSS * segment.segments, ..*segment });
            core.ack(*ack, segment.clock, segment.now_us);
            let look = core.look();
            let least = if BELOW.contains(&ALGORITHMS[row].core) { BESIDE_SIBLINGS } else { look.floor };
            prop_assert!(look.floor >= MSS, "{}", look.floor);
            prop_assert!(look.target >= least && look.window >= least, "{look:?}");
        }
    }

    /// Also where the multiplication ends and the division begins.
    #[test]
    fn a_fifth_is_exact(any in any::<u32>(), beyond in any::<u64>(), beside in 0..3u64) {
        for n in [u64::from(any), beyond, (1 << 32) - 1 + beside, beside] {
            prop_assert_eq!(fifth(n), n / 5);
        }
    }

    /// The clock's multiplications are a division, also right beside a whole unit.
    #[test]
    fn a_thousandth_is_exact(any in 0..430_000_000_000_000u64, shift in 0..48u32, beside in 0..3u64) {
        let n = ((any >> shift) * 1000 + beside).saturating_sub(1);
        prop_assert_eq!(thousandth(n), n / 1000);
    }

    /// A clock that remembers its millisecond tells what divisions do, whatever has passed since.
    #[test]
    fn a_clock_that_remembers_is_exact(
        start in 0..430_000_000_000_000u64,
        steps in prop::collection::vec((0..41u32, any::<u64>()), 1..100),
    ) {
        let (mut clock, mut ns) = (Clock::default(), start);
        for (bits, step) in steps {
            ns += step & ((1 << bits) - 1);
            let us = ns / 1000;
            prop_assert_eq!(clock.microseconds(ns), (us as u32, (us / 1000 * 1000) as u32));
        }
    }

    /// Data in order, ACKs in order, any delays: the right edge never moves left.
    #[test]
    fn the_right_edge_never_moves_left(
        steps in prop::collection::vec((1..40_000u32, 1..1449u32, 0..300_000u32, any::<bool>()), 1..400),
        row in 0..ALGORITHMS.len(),
        start in any::<u32>(),
    ) {
        let mut core = Core::new(ALGORITHMS[row].name);
        let (mut now, mut seq) = (start, start);
        core.ack(seq, now / 1000 * 1000, now);
        let mut edge = None;
        for (gap, bytes, rtt, acks) in steps {
            now = now.wrapping_add(gap);
            let clock = now / 1000 * 1000;
            core.arrival(&Segment {
                now_us: now, seq, bytes, segments: 1, stamped: 1,
                tsval: now.wrapping_sub(rtt) / 1000, tsecr: clock.wrapping_sub(rtt / 1000 * 1000), clock,
            });
            seq = seq.wrapping_add(bytes);
            if acks {
                let granted = seq.wrapping_add(core.ack(seq, clock, now));
                if let Some(before) = edge.replace(granted) {
                    let moved = granted.wrapping_sub(before) as i32;
                    prop_assert!(moved >= 0, "moved by {moved}");
                }
            }
        }
    }
}
