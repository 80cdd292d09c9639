// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Rates, sizes, times and shares as people write them: one grammar for every program of netnice.
//!
//! A value is a decimal number, then its unit, with a blank between them or none. Numbers have no sign and no exponent;
//! they are read exactly and rounded once, to the nearest.
//!
//! | type      | units                                                        | counted in           | examples        |
//! | --------- | ------------------------------------------------------------ | -------------------- | --------------- |
//! | [`Rate`]  | `bit` `kbit` `mbit` `gbit`; `B` `kB` `MB` `GB`; `/s` may follow | bits a second      | `10mbit` `1MB/s` |
//! | [`Size`]  | none or `B`; `kB` `MB` `GB` (1000); `k` `m` `g`, `KiB` `MiB` `GiB` (1024) | bytes   | `60kB` `1m`     |
//! | [`Time`]  | `ns` `us` `ms` `s` `min` `h` `d`                             | nanoseconds          | `40ms` `1.5h`   |
//! | [`Share`] | `%`                                                          | billionths           | `2%`            |
//!
//! All of them parse (`FromStr`, so clap needs no parser), print what parses to the same value again, and are ordered.
//! [`within`] bounds them. A value with units of its own (a queue in packets) begins with [`Quantity::read`].

mod values;

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use thiserror::Error;

pub use values::{seconds, Rate, Share, Size, Time};

/// Why a value could not be read: the text names the value, and shows one that works.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum UnitError {
    #[error("'{0}' does not start with a number; write for example {1}")]
    NoNumber(String, &'static str),
    #[error("'{0}' has more digits than anything here is exact to; write for example {1}")]
    TooLong(String, &'static str),
    #[error("'{0}' has no unit; write for example {1}")]
    NoUnit(String, &'static str),
    #[error("'{0}': the unit '{1}' is not known here; use {2}")]
    UnknownUnit(String, String, &'static str),
    #[error("'{0}' could mean bits or bytes; write bits as 10mbit, bytes as 10MB/s")]
    BitsOrBytes(String),
    #[error("'{0}' is out of range: {1}")]
    OutOfRange(String, String),
}

/// Digits of a number, as many as times any scale here fit 128 bits.
const MOST_DIGITS: usize = 20;

/// A decimal number, kept exactly, and its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity<'a> {
    pub(crate) digits: u128,
    /// Ten to the number of digits behind the point.
    pub(crate) ones: u128,
    /// What stands behind the number; empty if nothing does.
    pub unit: &'a str,
}

impl<'a> Quantity<'a> {
    /// Splits a value; `example` is one that works, for the error.
    /// It does not begin with a decimal number, or with one of too many digits.
    pub fn read(text: &'a str, example: &'static str) -> Result<Self, UnitError> {
        let trimmed = text.trim();
        let end = trimmed
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = [whole, fraction].concat();
        if digits.is_empty() || fraction.contains('.') {
            return Err(UnitError::NoNumber(text.into(), example));
        }
        if digits.len() > MOST_DIGITS {
            return Err(UnitError::TooLong(text.into(), example));
        }
        Ok(Self {
            digits: digits.parse().expect("twenty digits at most"),
            ones: 10u128.pow(fraction.len() as u32),
            unit: unit.trim_start(),
        })
    }

    /// Is the number zero? Then some need no unit.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.digits == 0
    }

    /// The number times `scale`, to the nearest; `None` beyond 64 bits.
    #[must_use]
    pub fn times(&self, scale: u64) -> Option<u64> {
        let exact = self.digits * u128::from(scale);
        u64::try_from((exact + self.ones / 2) / self.ones).ok()
    }

    /// The number, if it is whole.
    #[must_use]
    pub fn whole(&self) -> Option<u64> {
        let whole = self.digits % self.ones == 0;
        whole.then(|| self.times(1)).flatten()
    }

    /// The number, as near as floating point comes.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.digits as f64 / self.ones as f64
    }

    /// The number times the scale of its unit, of a table of names.
    pub(crate) fn scaled(&self, text: &str, units: &[(&str, u64)], names: &'static str) -> Result<u64, UnitError> {
        let unit = units.iter().find(|(name, _)| *name == self.unit);
        let Some((_, scale)) = unit else {
            let (text, unit) = (text.to_owned(), self.unit.to_owned());
            return Err(UnitError::UnknownUnit(text, unit, names));
        };
        self.times(*scale)
            .ok_or_else(|| UnitError::OutOfRange(text.into(), "it is too large".into()))
    }
}

/// Prints a count in the largest unit of which it is a whole number; `units` ends with a scale of 1.
pub(crate) fn print(f: &mut Formatter<'_>, count: u64, units: &[(&str, u64)]) -> fmt::Result {
    let fits = |(_, scale): &&(&str, u64)| *scale == 1 || (count > 0 && count % scale == 0);
    let (name, scale) = units.iter().find(fits).expect("the last fits any");
    write!(f, "{}{name}", count / scale)
}

/// A parser of values from `least` to `most`, both included: for clap's `value_parser`.
pub fn within<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, UnitError> + Clone
where
    T: FromStr<Err = UnitError> + PartialOrd + Display + Clone,
{
    move |text| {
        let value: T = text.parse()?;
        if value < least || value > most {
            let range = format!("{least} to {most}");
            return Err(UnitError::OutOfRange(text.into(), range));
        }
        Ok(value)
    }
}
