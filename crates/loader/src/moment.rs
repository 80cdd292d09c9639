// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Times and durations as people write them, in local time: `08:00`, `2026-12-01 08:00`, `90m`.

use std::time::Duration;

use jiff::civil::{DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Span, SpanRelativeTo, Timestamp, ToSpan, ZonedDateTime};

use crate::deadline::Deadline;

/// Why a time or a duration is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoMoment {
    #[error("write a local time as 08:00, or with its date as '2026-12-01 08:00'")]
    NoTime,
    #[error("write a duration as 90m, 2h30m or 1d")]
    NoDuration,
    #[error("it is not between one second and four years ahead")]
    Range,
}

/// The second since 1970 at which a local time is next. If a change of the clocks leaves a time of day out, it is as much
/// later as the clocks jump. If a time is there twice, the first is meant, unless it is over.
pub fn until(text: &str) -> Result<Deadline, NoMoment> {
    let at = next(text, &ZonedDateTime::now())?;
    Ok(Deadline::At(at.as_second()))
}

/// A duration from now on.
pub fn lasting(text: &str) -> Result<Deadline, NoMoment> {
    let span: Span = text.trim().parse().map_err(|_| NoMoment::NoDuration)?;
    if span.get_months() != 0 || span.get_years() != 0 {
        return Err(NoMoment::NoDuration); // of no fixed length
    }
    let days = SpanRelativeTo::days_are_24_hours();
    let length = span.to_duration(days).map_err(|_| NoMoment::NoDuration)?;
    let up = i64::from(length.subsec_nanos() > 0);
    let seconds = u64::try_from(length.as_secs() + up).map_err(|_| NoMoment::Range)?;
    match Duration::from_secs(seconds) {
        length if length.is_zero() || length > Deadline::MOST => Err(NoMoment::Range),
        _ => Ok(Deadline::In(seconds as u32)),
    }
}

fn next(text: &str, now: &ZonedDateTime) -> Result<Timestamp, NoMoment> {
    let text = text.trim();
    let at = match time_of_day(text) {
        Some(time) => next_at(time, now),
        None => with_date(text, now.time_zone()).ok_or(NoMoment::NoTime)?,
    };
    let ahead = Duration::try_from(at.duration_since(now.timestamp())).map_err(|_| NoMoment::Range)?;
    match ahead.is_zero() || ahead > Deadline::MOST {
        true => Err(NoMoment::Range),
        false => Ok(at),
    }
}

/// `08:00` or `08:00:30`.
pub(crate) fn time_of_day(text: &str) -> Option<Time> {
    let formats = ["%H:%M", "%H:%M:%S"];
    formats.iter().find_map(|format| Time::strptime(format, text).ok())
}

fn with_date(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at); // with an offset from UTC
    }
    let civil: DateTime = text.parse().ok().filter(|_| text.contains(':'))?;
    civil.to_zoned_datetime(zone.clone()).ok().map(|at| at.timestamp())
}

/// The first moment after now at which clocks show this time, or jump over it.
pub(crate) fn next_at(time: Time, now: &ZonedDateTime) -> Timestamp {
    let moments = |days: i64| {
        let date = now.date().saturating_add(days.days());
        let found = now.time_zone().to_ambiguous_timestamp(date.to_datetime(time));
        let first = match found.offset() {
            AmbiguousOffset::Fold { .. } => found.earlier(),
            _ => found.later(),
        };
        [first, found.later()]
    };
    let all = (0..=2).flat_map(moments).flatten();
    all.filter(|at| *at > now.timestamp()).min().unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin(text: &str) -> ZonedDateTime {
        let zone = TimeZone::get("Europe/Berlin").expect("the time zones of the system");
        text.parse::<Timestamp>().expect("a moment").to_zoned_datetime(zone)
    }

    /// In UTC.
    fn next_in_berlin(text: &str, now: &str) -> String {
        match next(text, &berlin(now)) {
            Ok(at) => at.to_string(),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn today_or_tomorrow() {
        assert_eq!(next_in_berlin("08:00", "2026-12-01T05:00:00Z"), "2026-12-01T07:00:00Z");
        assert_eq!(next_in_berlin("08:00", "2026-12-01T07:00:00Z"), "2026-12-02T07:00:00Z");
        assert_eq!(next_in_berlin("00:00", "2026-12-31T22:59:59Z"), "2026-12-31T23:00:00Z");
        assert_eq!(
            next_in_berlin("23:59:30", "2026-12-31T22:00:00Z"),
            "2026-12-31T22:59:30Z"
        );
    }

    #[test]
    fn over_daylight_saving() {
        // Spring: at 2:00 clocks jump to 3:00. The night is an hour shorter.
        assert_eq!(next_in_berlin("08:00", "2026-03-28T20:00:00Z"), "2026-03-29T06:00:00Z");
        assert_eq!(next_in_berlin("02:30", "2026-03-28T20:00:00Z"), "2026-03-29T01:30:00Z");
        // Autumn: at 3:00 clocks go back to 2:00, and 2:30 is there twice.
        assert_eq!(next_in_berlin("08:00", "2026-10-24T20:00:00Z"), "2026-10-25T07:00:00Z");
        assert_eq!(next_in_berlin("02:30", "2026-10-24T20:00:00Z"), "2026-10-25T00:30:00Z");
        assert_eq!(next_in_berlin("02:30", "2026-10-25T00:45:00Z"), "2026-10-25T01:30:00Z");
        assert_eq!(next_in_berlin("02:30", "2026-10-25T01:30:00Z"), "2026-10-26T01:30:00Z");
    }

    #[test]
    fn with_dates_and_zones() {
        let now = "2026-11-01T00:00:00Z";
        for (text, expected) in [
            ("2026-12-01 08:00", "2026-12-01T07:00:00Z"),
            ("2026-12-01T08:00:30", "2026-12-01T07:00:30Z"),
            ("2026-12-01T08:00:00+05:00", "2026-12-01T03:00:00Z"),
            ("2026-12-01T08:00:00Z", "2026-12-01T08:00:00Z"),
        ] {
            assert_eq!(next_in_berlin(text, now), expected, "{text}");
        }
        for text in ["2026-10-01 08:00", "2036-10-01 08:00"] {
            assert_eq!(next_in_berlin(text, now), NoMoment::Range.to_string(), "{text}");
        }
        for text in ["", "8", "25:00", "2026-12-01", "tomorrow", "08:00x"] {
            assert_eq!(next_in_berlin(text, now), NoMoment::NoTime.to_string(), "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, seconds) in [
            ("90m", 5400),
            ("2h30m", 9000),
            ("1d", 86_400),
            ("20s", 20),
            ("1h 5s", 3605),
        ] {
            assert_eq!(lasting(text), Ok(Deadline::In(seconds)), "{text}");
        }
        for text in ["", "90", "1y", "2mo", "soon"] {
            assert_eq!(lasting(text), Err(NoMoment::NoDuration), "{text}");
        }
        for text in ["0s", "-5m", "3000d"] {
            assert_eq!(lasting(text), Err(NoMoment::Range), "{text}");
        }
    }
}
