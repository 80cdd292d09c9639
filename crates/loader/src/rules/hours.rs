// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The hours of a rule: from one local time of day until another, over midnight if that is the earlier one.

use std::fmt::{self, Display, Formatter};

use jiff::civil::Time;
use jiff::{Timestamp, ZonedDateTime};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::moment::{next_at, time_of_day};

/// Why two times are no hours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoHours {
    #[error("a rule has both from and until, or neither")]
    Half,
    #[error("'{0}' is no time of day: write it as 18:00")]
    Time(String),
    #[error("from and until are both {0}: without them a rule holds all day")]
    Same(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hours {
    from: Time,
    until: Time,
}

/// When they hold next, or now: then it has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// `None`: it has begun.
    pub begins: Option<Timestamp>,
    pub ends: Timestamp,
}

impl Window {
    /// When something changes.
    pub fn next(self) -> Timestamp {
        self.begins.unwrap_or(self.ends)
    }
}

impl Hours {
    /// As the file has them; `None`: all day.
    pub(super) fn read(from: Option<String>, until: Option<String>) -> Result<Option<Self>, NoHours> {
        let (from, until) = match (from, until) {
            (None, None) => return Ok(None),
            (Some(from), Some(until)) => (from, until),
            _ => return Err(NoHours::Half),
        };
        let time = |text: &str| time_of_day(text).ok_or_else(|| NoHours::Time(text.to_owned()));
        let hours = Self {
            from: time(&from)?,
            until: time(&until)?,
        };
        match hours.from == hours.until {
            true => Err(NoHours::Same(from)),
            false => Ok(Some(hours)),
        }
    }

    pub fn window(self, now: &ZonedDateTime) -> Window {
        let (from, until) = (next_at(self.from, now), next_at(self.until, now));
        if until < from {
            return Window {
                begins: None,
                ends: until,
            };
        }
        let then = from.to_zoned_datetime(now.time_zone().clone());
        Window {
            begins: Some(from),
            ends: next_at(self.until, &then),
        }
    }

    /// Seconds of the day, as the kernel keeps them.
    pub(super) fn to_seconds(self) -> [u32; 2] {
        [self.from, self.until].map(|time| {
            let [hour, minute, second] = [time.hour(), time.minute(), time.second()].map(|part| part.unsigned_abs());
            u32::from(hour) * 3600 + u32::from(minute) * 60 + u32::from(second)
        })
    }

    pub(super) fn of_seconds(from: u32, until: u32) -> Option<Self> {
        let part = |number: u32| i8::try_from(number).ok();
        let time = |of_day: u32| {
            let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
            Time::new(part(hour)?, part(minute)?, part(second)?, 0).ok()
        };
        (from != until).then_some(Self {
            from: time(from)?,
            until: time(until)?,
        })
    }
}

impl Display for Hours {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "from {} until {}", short(self.from), short(self.until))
    }
}

impl Serialize for Hours {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut both = to.serialize_struct("Hours", 2)?;
        both.serialize_field("from", &short(self.from))?;
        both.serialize_field("until", &short(self.until))?;
        both.end()
    }
}

fn short(time: Time) -> String {
    let format = if time.second() == 0 { "%H:%M" } else { "%H:%M:%S" };
    time.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    fn hours(from: &str, until: &str) -> Hours {
        let read = Hours::read(Some(from.to_owned()), Some(until.to_owned()));
        read.expect("valid").expect("hours")
    }

    /// In Berlin; all in UTC.
    fn window(from: &str, until: &str, now: &str) -> String {
        let zone = TimeZone::get("Europe/Berlin").expect("the time zones of the system");
        let now = now.parse::<Timestamp>().expect("a moment").to_zoned_datetime(zone);
        let Window { begins, ends } = hours(from, until).window(&now);
        format!("{} {ends}", begins.map_or("now".to_owned(), |at| at.to_string()))
    }

    #[test]
    fn over_midnight() {
        let night = |now| window("18:00", "08:00", now);
        assert_eq!(
            night("2026-12-01T16:59:59Z"),
            "2026-12-01T17:00:00Z 2026-12-02T07:00:00Z"
        );
        for now in ["2026-12-01T17:00:00Z", "2026-12-01T23:00:00Z", "2026-12-02T06:59:59Z"] {
            assert_eq!(night(now), "now 2026-12-02T07:00:00Z", "{now}");
        }
        assert_eq!(
            night("2026-12-02T07:00:00Z"),
            "2026-12-02T17:00:00Z 2026-12-03T07:00:00Z"
        );
        assert_eq!(
            window("08:00", "18:00", "2026-12-02T07:00:00Z"),
            "now 2026-12-02T17:00:00Z"
        );
    }

    #[test]
    fn over_daylight_saving() {
        // The night of spring has 13 hours, that of autumn 15.
        assert_eq!(
            window("18:00", "08:00", "2026-03-28T20:00:00Z"),
            "now 2026-03-29T06:00:00Z"
        );
        assert_eq!(
            window("18:00", "08:00", "2026-10-24T20:00:00Z"),
            "now 2026-10-25T07:00:00Z"
        );
        // A quarter of an hour that is not there, and one that is there twice.
        let jumped = "2026-03-29T01:15:00Z 2026-03-29T01:45:00Z";
        assert_eq!(window("02:15", "02:45", "2026-03-29T00:00:00Z"), jumped);
        assert_eq!(
            window("02:15", "02:45", "2026-10-25T00:20:00Z"),
            "now 2026-10-25T00:45:00Z"
        );
        assert_eq!(
            window("02:15", "02:45", "2026-10-25T01:20:00Z"),
            "now 2026-10-25T01:45:00Z"
        );
    }

    #[test]
    fn to_the_kernel_and_back() {
        for (from, until) in [("18:00", "08:00"), ("00:00", "23:59:59")] {
            let one = hours(from, until);
            let [from, until] = one.to_seconds();
            assert_eq!(Hours::of_seconds(from, until), Some(one));
        }
        assert_eq!(Hours::of_seconds(0, 0), None);
        assert_eq!(Hours::of_seconds(86_400, 0), None);
    }

    #[test]
    fn what_is_none() {
        let read = |from: Option<&str>, until: Option<&str>| {
            Hours::read(from.map(str::to_owned), until.map(str::to_owned)).expect_err("none")
        };
        assert_eq!(read(Some("8:00"), None), NoHours::Half);
        assert_eq!(read(Some("8"), Some("9:00")), NoHours::Time("8".to_owned()));
        assert_eq!(read(Some("08:00"), Some("08:00")), NoHours::Same("08:00".to_owned()));
    }
}
