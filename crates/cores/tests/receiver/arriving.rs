// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Full segments, as every simulated sender of these tests sends them.

use netnice_cores::receiver::Segment;

pub const MSS: u32 = 1448;

/// What a millisecond clock shows, us.
pub fn ticked(us: u32) -> u32 {
    us / 1000 * 1000
}

/// It arrives at `now`, us, and carries the sender's stamp, in its ticks; it echoes an ACK that left at `echoed`, us.
pub fn full(now: u32, seq: u32, tsval: u32, echoed: u32) -> Segment {
    Segment {
        now_us: now,
        seq,
        bytes: MSS,
        segments: 1,
        stamped: 1,
        tsval,
        tsecr: ticked(echoed),
        clock: ticked(now),
    }
}
