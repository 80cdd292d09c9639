// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! How long.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::time::Duration;

use crate::quantity::{print, Quantity, UnitError};

const EXAMPLE: &str = "40ms";
const NAMES: &str = "ns, us, ms, s, min, h or d";
const UNITS: [(&str, u64); 8] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// A length of time in nanoseconds, up to five centuries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// No time; also written as a bare `0`.
    pub const ZERO: Self = Self(0);

    #[must_use]
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(milliseconds * 1_000_000)
    }

    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    #[must_use]
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl From<Time> for Duration {
    fn from(time: Time) -> Self {
        Self::from_nanos(time.0)
    }
}

impl FromStr for Time {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let quantity = Quantity::read(text, EXAMPLE)?;
        match quantity.unit {
            "" if quantity.is_zero() => Ok(Self::ZERO),
            "" => Err(UnitError::NoUnit(text.into(), EXAMPLE)),
            _ => quantity.scaled(text, &UNITS, NAMES).map(Self),
        }
    }
}

impl Display for Time {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0s"),
            nanos => print(f, nanos, &UNITS),
        }
    }
}

/// Reads the value of an option that has its unit in its name (`--seconds 30`): a bare number is seconds.
///
/// # Errors
/// As any [`Time`]'s.
pub fn seconds(text: &str) -> Result<Time, UnitError> {
    match Quantity::read(text, "30")?.unit {
        "" => format!("{}s", text.trim()).parse(),
        _ => text.parse(),
    }
}
