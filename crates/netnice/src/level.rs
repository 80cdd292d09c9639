// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Which group a command goes into, given where its caller already is. Pure.

use netnice_loader::cgroup::{Direction, Group, HIGHEST_LEVEL};

use crate::Error;

pub(crate) fn parse(asked: Option<i64>) -> Result<u32, Error> {
    let asked = asked.unwrap_or(0);
    u32::try_from(asked)
        .ok()
        .filter(|level| (0..=HIGHEST_LEVEL).contains(level))
        .ok_or(Error::NoSuchLevel(asked))
}

/// Never less nice than now, and never marked again after somebody further out said not to.
pub(crate) fn choose(
    current: Option<Group>,
    level: u32,
    no_mark: bool,
    direction: Direction,
) -> Group {
    let Some(now) = current else {
        return Group::new(level, !no_mark, direction);
    };
    let direction = now.direction.union(direction);
    if now.level > level {
        return Group { direction, ..now };
    }
    Group::new(level, now.marked && !no_mark, direction)
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
        let after = |now, asked| {
            let current = Some(Group::new(0, true, now));
            super::choose(current, 0, false, asked).direction
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
    fn no_mark_is_inherited() {
        assert_eq!(choose(Some(group(0, false)), 0, false), group(0, false));
        assert_eq!(choose(Some(group(0, false)), 1, false), group(1, false));
        assert_eq!(choose(Some(group(0, true)), 0, true), group(0, false));
    }

    #[test]
    fn levels_there_are() {
        assert_eq!(parse(None).expect("the default"), 0);
        assert_eq!(parse(Some(0)).expect("exists"), 0);
        for bad in [-1, i64::from(HIGHEST_LEVEL) + 1, i64::MAX] {
            assert!(parse(Some(bad)).is_err(), "{bad}");
        }
    }
}
