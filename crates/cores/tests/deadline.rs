// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Niceness that ends: algorithms/niceness/deadline.h, clocks and what a call says of them.

// Links the C file.
use netnice_cores as _;

extern "C" {
    fn nn_test_deadline_at(now: u64, seconds: u32) -> u64;
    fn nn_test_deadline_passed(boot: u64, wall: u64, now_boot: u64, now_wall: u64) -> bool;
}

const SECOND: u64 = 1_000_000_000;
const BITS: u32 = (1 << 28) - 1;

fn at(now: u64, seconds: u32) -> u64 {
    // SAFETY: two numbers.
    unsafe { nn_test_deadline_at(now, seconds) }
}

#[test]
fn the_last_bits_of_a_second_are_enough() {
    for second in [0, 1, 1_795_000_000, (1 << 28) - 1, 1 << 28, 7 << 28] {
        for ahead in [0, 1, 3600, (1 << 27) - 1] {
            let wanted = second + ahead;
            let now = second * SECOND + 999_999_999;
            assert_eq!(at(now, wanted as u32 & BITS), wanted * SECOND, "{second} {ahead}");
        }
    }
}

#[test]
fn what_is_in_the_past_is_now() {
    let now = 1_795_000_000 * SECOND + 5;
    for before in [1, 60, 1 << 27] {
        let second = 1_795_000_000 - before;
        assert_eq!(at(now, second as u32 & BITS), now);
    }
}

#[test]
fn both_clocks_have_to_pass() {
    // SAFETY: four numbers.
    let passed = |boot, wall, now| unsafe { nn_test_deadline_passed(boot, wall, now, now) };
    assert!(passed(5, 0, 5) && !passed(5, 0, 4));
    assert!(passed(0, 5, 5) && !passed(0, 5, 4));
    assert!(!passed(3, 5, 4) && passed(3, 5, 5));
}
