// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Which class a packet belongs to, read from its IP header.

use serde::Serialize;

/// A packet's class by its DSCP: 'lower effort' (LE, RFC 8622, code point 000001), or anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    BestEffort = 0,
    LowerEffort = 1,
}

const DSCP_LE: u8 = 1;

impl Class {
    /// Both classes, in the order of their counters.
    pub const ALL: [Class; 2] = [Class::BestEffort, Class::LowerEffort];

    /// Reads the class of an IPv4 or IPv6 packet; what is neither is best effort.
    pub fn of(packet: &[u8]) -> Class {
        let traffic_class = match packet {
            [first, second, ..] if first >> 4 == 4 => *second,
            [first, second, ..] if first >> 4 == 6 => first << 4 | second >> 4,
            _ => 0,
        };
        if traffic_class >> 2 == DSCP_LE {
            Class::LowerEffort
        } else {
            Class::BestEffort
        }
    }

    /// The class's place in an array of counters.
    pub fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv4_is_read_from_the_tos_byte() {
        assert_eq!(Class::of(&[0x45, 0x04]), Class::LowerEffort);
        assert_eq!(Class::of(&[0x45, 0x07]), Class::LowerEffort, "ECN bits do not count");
        assert_eq!(Class::of(&[0x45, 0x00]), Class::BestEffort);
        assert_eq!(Class::of(&[0x45, 0x20]), Class::BestEffort, "CS1 is not LE");
    }

    #[test]
    fn ipv6_is_read_across_the_first_two_bytes() {
        assert_eq!(Class::of(&[0x60, 0x40]), Class::LowerEffort);
        assert_eq!(
            Class::of(&[0x60, 0x7f]),
            Class::LowerEffort,
            "flow label and ECN do not count"
        );
        assert_eq!(Class::of(&[0x61, 0x40]), Class::BestEffort);
        assert_eq!(Class::of(&[0x60, 0x00]), Class::BestEffort);
    }

    #[test]
    fn what_is_not_ip_is_best_effort() {
        assert_eq!(Class::of(&[]), Class::BestEffort);
        assert_eq!(Class::of(&[0x45]), Class::BestEffort);
        assert_eq!(Class::of(&[0x10, 0x04]), Class::BestEffort);
    }
}
