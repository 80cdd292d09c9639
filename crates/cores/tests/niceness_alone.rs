// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A process that is nice alone: algorithms/niceness/alone.h.

// Links the C file.
use netnice_cores as _;

extern "C" {
    fn nn_test_after(offset: u32, now: u32, alone: bool, root: bool) -> u32;
    fn nn_test_of_child(parent: u32) -> u32;
    fn nn_test_ends_at_exec(niceness: u32) -> bool;
    fn nn_test_of_rules(one: u32, other: u32) -> u32;
}

const RAISE: u32 = 1;
const SET: u32 = 2;
const FORGO_QUIC: u32 = 3;
const BOTH: u32 = 8 | 16;
const LEVEL_0: u32 = 1 | BOTH;
const LEVEL_1: u32 = 2 | BOTH;
const LEVEL_2: u32 = 4 | BOTH;
const WITHOUT_QUIC: u32 = 64;
const ALONE: u32 = 128;

fn after(verb: u32, niceness: u32, now: u32, alone: bool) -> u32 {
    // SAFETY: numbers.
    unsafe { nn_test_after(1 << 30 | verb << 28 | niceness << 22, now, alone, false) }
}

/// That of a child which has executed a program: 0 is the foreground.
fn of_program(parent: u32) -> u32 {
    // SAFETY: numbers.
    unsafe {
        match nn_test_of_child(parent) {
            child if nn_test_ends_at_exec(child) => 0,
            child => child,
        }
    }
}

#[test]
fn what_it_starts_is_in_the_foreground_and_it_is_not() {
    for verb in [RAISE, SET] {
        let own = after(verb, LEVEL_0, 0, true);
        assert_eq!(own, LEVEL_0 | ALONE);
        assert_eq!(of_program(own), 0);
        // SAFETY: a number.
        assert!(
            !unsafe { nn_test_ends_at_exec(own) },
            "the program that netnice becomes"
        );
    }
}

#[test]
fn a_child_that_executes_nothing_is_as_its_parent() {
    // SAFETY: a number.
    let child = unsafe { nn_test_of_child(LEVEL_0 | ALONE) };
    assert_eq!(child & 63, LEVEL_0);
    assert_eq!(of_program(child), 0, "its own children too");
}

#[test]
fn the_background_is_not_left_by_it() {
    for verb in [RAISE, SET] {
        for wanted in [LEVEL_0, LEVEL_2] {
            let own = after(verb, wanted, LEVEL_0, true);
            assert_eq!(of_program(own), own, "{verb} {wanted:#b}");
            assert_eq!(own & LEVEL_0, LEVEL_0);
        }
    }
}

#[test]
fn another_raise_has_its_children_inherit() {
    for verb in [RAISE, SET] {
        let own = after(verb, LEVEL_0, LEVEL_0 | ALONE, false);
        assert_eq!(own, LEVEL_0);
        // SAFETY: a number.
        let child = unsafe { nn_test_of_child(LEVEL_0 | ALONE) };
        assert_eq!(of_program(after(verb, LEVEL_0, child, false)), LEVEL_0);
    }
    let own = after(FORGO_QUIC, 0, LEVEL_0 | ALONE, false);
    assert_eq!(own, LEVEL_0 | ALONE | WITHOUT_QUIC, "QUIC is another question");
    assert_eq!(after(RAISE, LEVEL_2, LEVEL_0 | ALONE, true), LEVEL_0 | LEVEL_2 | ALONE);
}

#[test]
fn children_inherit_if_any_rule_has_them_inherit() {
    // SAFETY: numbers.
    let both = |one, other| unsafe { nn_test_of_rules(one, other) };
    assert_eq!(both(0, LEVEL_0 | ALONE), LEVEL_0 | ALONE);
    assert_eq!(both(LEVEL_0 | ALONE, LEVEL_2 | ALONE), LEVEL_0 | LEVEL_2 | ALONE);
    assert_eq!(both(LEVEL_0 | ALONE, LEVEL_2), LEVEL_0 | LEVEL_2);
    assert_eq!(both(LEVEL_0, LEVEL_2 | ALONE), LEVEL_0 | LEVEL_2);

    let until_exec = 256;
    let child = LEVEL_1 | ALONE | until_exec;
    assert_eq!(both(LEVEL_0, child), LEVEL_0 | LEVEL_1, "a part that a child keeps");
    assert_eq!(both(LEVEL_0 | ALONE | until_exec, child), LEVEL_0 | child);
}
