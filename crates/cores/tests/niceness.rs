// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Rights over niceness: algorithms/niceness, every call there is against every niceness there is. And niceness that ends
//! (deadline.h): clocks, and what a call says of them.

use std::collections::HashSet;

// Links the C file.
use netnice_cores as _;

extern "C" {
    fn nn_test_lowers(now: u32, wanted: u32) -> bool;
    fn nn_test_speaks(niceness: u32, rank: u32) -> bool;
    fn nn_test_stays(now: u32, wanted: u32, only_nicer: bool) -> bool;
    fn nn_test_turns(now: u32, wanted: u32) -> bool;
    fn nn_test_priority(now: u32, had: u32, marked: u32) -> u32;
    fn nn_test_is_call(offset: u32) -> bool;
    fn nn_test_answer(offset: u32, now: u32, owner: bool, root: bool) -> u64;
    fn nn_test_deadline_at(now: u64, seconds: u32) -> u64;
    fn nn_test_deadline_passed(boot: u64, wall: u64, now_boot: u64, now_wall: u64) -> bool;
}

const ASK: u32 = 0;
const RAISE: u32 = 1;
const SET: u32 = 2;
const FORGO_QUIC: u32 = 3;
const LEVELS: [u32; 3] = [1, 2, 4];
const SENDS: u32 = 8;
const RECEIVES: u32 = 16;
const UNMARKED: u32 = 32;
const WITHOUT_QUIC: u32 = 64;

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Verdict {
    Keep,
    Add,
    Replace,
    Forget,
    Meaningless,
    Forbidden,
}
use Verdict::*;

fn answer(verb: u32, niceness: u32, now: u32, owner: bool, root: bool) -> (Verdict, u32) {
    let all = [Keep, Add, Replace, Forget, Meaningless, Forbidden];
    let offset = 1 << 30 | verb << 28 | niceness << 22;
    // SAFETY: four numbers.
    let word = unsafe { nn_test_answer(offset, now, owner, root) };
    (all[(word >> 32) as usize], word as u32)
}

/// What the process has afterwards.
fn after(verb: u32, niceness: u32, now: u32, owner: bool, root: bool) -> u32 {
    match answer(verb, niceness, now, owner, root) {
        (Add, bits) => now | bits,
        (Replace, bits) => bits,
        (Forget, _) => 0,
        _ => now,
    }
}

fn lowers(now: u32, wanted: u32) -> bool {
    // SAFETY: two numbers.
    unsafe { nn_test_lowers(now, wanted) }
}

/// All that a process can have, the foreground too.
fn every_niceness() -> Vec<u32> {
    let sound = |n: &u32| *n == 0 || (n & 7 != 0 && n & (SENDS | RECEIVES) != 0);
    (0..64).filter(sound).collect()
}

/// With QUIC, and without.
fn with_options() -> Vec<u32> {
    let both = |niceness| [niceness, niceness | WITHOUT_QUIC];
    every_niceness().into_iter().flat_map(both).collect()
}

fn rank(niceness: u32) -> u32 {
    32 - (niceness & 7).leading_zeros()
}

#[test]
fn a_socket_gets_its_priority_back_or_keeps_what_its_program_set_since() {
    const MARKED: u32 = 257;
    for (now, back) in [(MARKED, 3), (0, 3), (4, 4)] {
        // SAFETY: three numbers.
        assert_eq!(unsafe { nn_test_priority(now, 3, MARKED) }, back);
    }
}

#[test]
fn nobody_but_root_lowers_anything() {
    for now in with_options() {
        for verb in 0..4 {
            for wanted in 0..64 {
                let then = after(verb, wanted, now, true, false);
                assert!(rank(then) >= rank(now), "{verb} {wanted:#b} at {now:#b}");
                assert_eq!(now & !then, 0, "a bit was lost: {verb} {wanted:#b} at {now:#b}");
                assert!(!lowers(now, then));
            }
        }
    }
}

#[test]
fn nobody_but_root_changes_what_is_not_theirs() {
    for now in with_options() {
        for verb in 0..4 {
            for wanted in 0..64 {
                assert_eq!(after(verb, wanted, now, false, false), now);
            }
        }
    }
}

#[test]
fn two_who_raise_at_once_cannot_lower() {
    // Each decides by what it saw before; the bits of both arrive in any order.
    for now in every_niceness() {
        for one in every_niceness() {
            for other in every_niceness() {
                let add = |wanted| match answer(RAISE, wanted, now, true, false) {
                    (Add, bits) => bits,
                    _ => 0,
                };
                let then = now | add(one) | add(other);
                assert!(!lowers(now, then), "{one:#b} and {other:#b} at {now:#b}");
            }
        }
    }
}

#[test]
fn root_gets_exactly_what_it_asks_for() {
    for now in every_niceness() {
        for wanted in every_niceness().into_iter().filter(|w| lowers(now, *w)) {
            assert_eq!(after(SET, wanted, now, false, true), wanted);
            assert_eq!(answer(SET, wanted, now, true, false).0, Forbidden);
        }
    }
}

#[test]
fn whichever_is_nicer_speaks_for_a_connection() {
    // SAFETY: two numbers.
    let speaks = |niceness, rank| unsafe { nn_test_speaks(niceness, rank) };
    assert!(speaks(1 | SENDS, 0) && speaks(2 | SENDS, 1) && speaks(2 | SENDS, 2));
    assert!(!speaks(1 | SENDS, 2), "its cgroup has it yield more");
    assert!(!speaks(1 | RECEIVES, 0) && !speaks(0, 0));
}

#[test]
fn a_connection_in_use_is_not_lowered_by_who_may_only_raise() {
    for now in 0..4 {
        for wanted in 0..4 {
            // SAFETY: numbers.
            let (stays, turns) = unsafe {
                assert!(!nn_test_stays(now, wanted, false), "root's word counts");
                (nn_test_stays(now, wanted, true), nn_test_turns(now, wanted))
            };
            assert_eq!(stays, wanted < now);
            assert_eq!(turns, (now, wanted) != (0, 0), "nobody's choice is changed");
        }
    }
}

#[test]
fn what_lowers() {
    let both = SENDS | RECEIVES;
    assert!(lowers(2 | both, 0));
    assert!(lowers(2 | both, 1 | both));
    assert!(lowers(2 | both, 4 | SENDS));
    assert!(!lowers(2 | both, 4 | both | UNMARKED));
    assert!(!lowers(0, 1 | both));
    assert!(!lowers(7 | SENDS, 4 | SENDS), "the highest level counts");
}

#[test]
fn a_command_at_a_lower_level_stays_and_adds_its_directions() {
    let now = 4 | SENDS;
    assert_eq!(after(RAISE, 1 | RECEIVES | UNMARKED, now, true, false), now | RECEIVES);
    assert_eq!(after(RAISE, 4 | SENDS | UNMARKED, now, true, false), now | UNMARKED);
}

#[test]
fn to_ask_changes_nothing_and_needs_nothing() {
    for now in every_niceness() {
        assert_eq!(answer(ASK, 0, now, false, false).0, Keep);
    }
}

#[test]
fn anybody_may_do_without_quic_and_nothing_else_changes() {
    for now in with_options() {
        assert_eq!(after(FORGO_QUIC, 0, now, true, false), now | WITHOUT_QUIC);
    }
}

#[test]
fn what_means_nothing_is_refused() {
    for (verb, wanted) in [(FORGO_QUIC, 1 | SENDS), (RAISE, SENDS), (SET, 1), (RAISE, UNMARKED)] {
        assert_eq!(answer(verb, wanted, 0, true, true).0, Meaningless);
    }
    for level in LEVELS {
        assert_eq!(answer(RAISE, level | SENDS, 0, true, false), (Add, level | SENDS));
    }
}

#[test]
fn ordinary_reads_are_no_calls() {
    let offsets = [0, 1, 6, 4096, (1 << 30) - 1, 1 << 31, u32::MAX];
    // SAFETY: a number.
    assert!(offsets.iter().all(|at| unsafe { !nn_test_is_call(*at) }));
    let calls: HashSet<_> = [1 << 30, (1 << 31) - 1]
        .into_iter()
        .filter(|at| unsafe { nn_test_is_call(*at) })
        .collect();
    assert_eq!(calls.len(), 2);
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
