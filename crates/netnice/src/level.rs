// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Which group a command or a process goes into, given where it already is, and how it is told. Pure.

use netnice_loader::group::{Direction, Group, HIGHEST_LEVEL};

use crate::Error;

pub(crate) fn checked(number: i64) -> Result<u32, Error> {
    u32::try_from(number)
        .ok()
        .filter(|level| (0..=HIGHEST_LEVEL).contains(level))
        .ok_or(Error::NoSuchLevel(number))
}

/// Never less nice than now, and never marked again after a command further out said not to.
pub(crate) fn choose(current: Option<Group>, level: u32, no_mark: bool, direction: Direction) -> Group {
    let Some(now) = current else {
        return Group::new(level, !no_mark, direction);
    };
    let direction = now.direction.union(direction);
    if now.level > level {
        return Group { direction, ..now };
    }
    Group::new(level, now.marked && !no_mark, direction)
}

/// For a process that runs already: the level as asked, everything else as it was unless asked.
pub(crate) fn choose_for(current: Option<Group>, level: u32, no_mark: bool, direction: Option<Direction>) -> Group {
    let now = current.unwrap_or(Group::new(level, true, Direction::Both));
    Group::new(level, now.marked && !no_mark, direction.unwrap_or(now.direction))
}

/// Would a process yield less there, to any traffic or in any direction, than it does now?
pub(crate) fn less_nice(now: Group, to: Option<Group>) -> bool {
    to.is_none_or(|to| to.level < now.level || now.direction.union(to.direction) != to.direction)
}

/// A group as netnice prints it: the level, and what is not as usual.
pub(crate) fn described(current: Option<Group>) -> String {
    current.map_or_else(|| "foreground".to_owned(), |group| group.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn group(level: u32, marked: bool) -> Group {
        Group::new(level, marked, Direction::Send)
    }

    fn choose(current: Option<Group>, level: u32, no_mark: bool) -> Group {
        super::choose(current, level, no_mark, Direction::Send)
    }

    #[test]
    fn directions_add_up() {
        use Direction::{Both, Receive, Send};
        let after = |now, requested| {
            let current = Some(Group::new(0, true, now));
            super::choose(current, 0, false, requested).direction
        };
        assert_eq!(super::choose(None, 0, false, Send).direction, Send);
        assert_eq!(after(Send, Send), Send);
        assert_eq!(after(Send, Receive), Both);
        assert_eq!(after(Both, Receive), Both);
    }

    #[test]
    fn from_the_foreground() {
        assert_eq!(choose(None, 0, false), group(0, true));
        assert_eq!(choose(None, 0, true), group(0, false));
    }

    #[test]
    fn never_less_nice() {
        assert_eq!(choose(Some(group(2, true)), 0, false), group(2, true));
        assert_eq!(choose(Some(group(2, true)), 0, true), group(2, true));
        assert_eq!(choose(Some(group(0, true)), 2, false), group(2, true));
    }

    #[test]
    fn a_running_process_goes_both_ways_and_keeps_the_rest() {
        use Direction::{Both, Receive};
        let now = Some(Group::new(1, false, Both));
        for level in [0, 2] {
            let after = choose_for(now, level, false, None);
            assert_eq!(after, Group::new(level, false, Both));
        }
        let receive = choose_for(now, 1, false, Some(Receive));
        assert_eq!(receive, Group::new(1, false, Receive));
        let fresh = choose_for(None, 2, true, None);
        assert_eq!(fresh, Group::new(2, false, Both));
    }

    #[test]
    fn what_takes_root() {
        use Direction::{Both, Receive, Send};
        let now = Group::new(1, true, Send);
        assert!(less_nice(now, None));
        assert!(less_nice(now, Some(group(0, true))));
        assert!(less_nice(now, Some(Group::new(1, true, Receive))));
        assert!(!less_nice(now, Some(Group::new(1, true, Both))));
        assert!(!less_nice(now, Some(group(1, false))));
        assert!(!less_nice(now, Some(group(2, true))));
    }

    #[test]
    fn no_mark_is_inherited() {
        assert_eq!(choose(Some(group(0, false)), 0, false), group(0, false));
        assert_eq!(choose(Some(group(0, false)), 1, false), group(1, false));
        assert_eq!(choose(Some(group(0, true)), 0, true), group(0, false));
    }

    #[test]
    fn levels_there_are() {
        for level in 0..=HIGHEST_LEVEL {
            assert_eq!(checked(level.into()).expect("exists"), level);
        }
        for bad in [-1, i64::from(HIGHEST_LEVEL) + 1, i64::MAX] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
