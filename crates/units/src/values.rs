// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The values: how fast, how much, how long, what part of the whole.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::time::Duration;

use crate::{print, Quantity, UnitError};

const RATE_EXAMPLE: &str = "10mbit";
const RATE_NAMES: &str = "bit, kbit, mbit, gbit, or B, kB, MB, GB";
const BITS: [(&str, u64); 4] = [
    ("gbit", 1_000_000_000),
    ("mbit", 1_000_000),
    ("kbit", 1_000),
    ("bit", 1),
];
/// Bytes have a capital B, whatever stands before it.
const BYTES: [(&str, u64); 7] = [
    ("B", 8),
    ("kB", 8_000),
    ("KB", 8_000),
    ("mB", 8_000_000),
    ("MB", 8_000_000),
    ("gB", 8_000_000_000),
    ("GB", 8_000_000_000),
];

/// A rate in bits a second, at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// `None` at 0: what has no rate is better not to have one.
    #[must_use]
    pub const fn from_bits(bits_a_second: u64) -> Option<Self> {
        match bits_a_second {
            0 => None,
            bits => Some(Self(bits)),
        }
    }

    /// Bits a second.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Bytes a second, without the last bits.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0 / 8
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let mut quantity = Quantity::read(text, RATE_EXAMPLE)?;
        quantity.unit = quantity.unit.strip_suffix("/s").unwrap_or(quantity.unit);
        let lower = quantity.unit.to_ascii_lowercase();
        let bits = match lower.as_str() {
            "" => return Err(UnitError::NoUnit(text.into(), RATE_EXAMPLE)),
            "bps" | "kbps" | "mbps" | "gbps" => return Err(UnitError::BitsOrBytes(text.into())),
            bits if bits.ends_with("bit") => {
                let quantity = Quantity { unit: bits, ..quantity };
                quantity.scaled(text, &BITS, RATE_NAMES)?
            }
            _ => quantity.scaled(text, &BYTES, RATE_NAMES)?,
        };
        Self::from_bits(bits).ok_or_else(|| UnitError::OutOfRange(text.into(), "a rate is at least 1bit".into()))
    }
}

impl Display for Rate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        print(f, self.0, &BITS)
    }
}

const SIZE_EXAMPLE: &str = "60kB";
const SIZE_NAMES: &str = "B, kB, MB, GB, or k, m, g (KiB, MiB, GiB)";
/// As coreutils have them: with a B powers of 1000, alone powers of 1024.
const SIZE_UNITS: [(&str, u64); 18] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("gB", 1_000_000_000),
    ("mB", 1_000_000),
    ("KB", 1_000),
    ("kiB", 1 << 10),
    ("g", 1 << 30),
    ("G", 1 << 30),
    ("m", 1 << 20),
    ("M", 1 << 20),
    ("k", 1 << 10),
    ("K", 1 << 10),
    ("B", 1),
    ("", 1),
];

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Size(pub u64);

impl Size {
    /// Bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for Size {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let quantity = Quantity::read(text, SIZE_EXAMPLE)?;
        quantity.scaled(text, &SIZE_UNITS, SIZE_NAMES).map(Self)
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        print(f, self.0, &SIZE_UNITS)
    }
}

const TIME_EXAMPLE: &str = "40ms";
const TIME_NAMES: &str = "ns, us, ms, s, min, h or d";
const TIME_UNITS: [(&str, u64); 8] = [
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
        let quantity = Quantity::read(text, TIME_EXAMPLE)?;
        match quantity.unit {
            "" if quantity.is_zero() => Ok(Self::ZERO),
            "" => Err(UnitError::NoUnit(text.into(), TIME_EXAMPLE)),
            _ => quantity.scaled(text, &TIME_UNITS, TIME_NAMES).map(Self),
        }
    }
}

impl Display for Time {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0s"),
            nanos => print(f, nanos, &TIME_UNITS),
        }
    }
}

/// Reads the value of an option that has its unit in its name (`--seconds 30`): a bare number is seconds.
/// As any [`Time`]'s.
pub fn seconds(text: &str) -> Result<Time, UnitError> {
    match Quantity::read(text, "30")?.unit {
        "" => format!("{}s", text.trim()).parse(),
        _ => text.parse(),
    }
}

const SHARE_EXAMPLE: &str = "2%";
/// Billionths in a percent.
const PERCENT: u64 = 10_000_000;
const WHOLE: u64 = 100 * PERCENT;

/// A share or a probability, 0 % to 100 %, in billionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Share(u32);

impl Share {
    /// From 0 to 1.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        f64::from(self.0) / WHOLE as f64
    }
}

impl FromStr for Share {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let quantity = Quantity::read(text, SHARE_EXAMPLE)?;
        match quantity.unit {
            "%" => {}
            "" if quantity.is_zero() => {}
            "" => return Err(UnitError::NoUnit(text.into(), SHARE_EXAMPLE)),
            unit => return Err(UnitError::UnknownUnit(text.into(), unit.into(), "%")),
        }
        match quantity.times(PERCENT) {
            Some(billionths) if billionths <= WHOLE => Ok(Self(billionths as u32)),
            _ => Err(UnitError::OutOfRange(text.into(), "0% to 100%".into())),
        }
    }
}

impl Display for Share {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let billionths = u64::from(self.0);
        let (percent, rest) = (billionths / PERCENT, billionths % PERCENT);
        match format!("{rest:07}").trim_end_matches('0') {
            "" => write!(f, "{percent}%"),
            fraction => write!(f, "{percent}.{fraction}%"),
        }
    }
}
