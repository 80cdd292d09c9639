// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Bounds of an option's values.

use std::fmt::Display;
use std::str::FromStr;

use crate::UnitError;

/// A parser of values from `least` to `most`, both included: for clap's `value_parser`.
///
/// ```
/// use netnice_units::{within, Time};
/// let delay = within(Time::ZERO, Time::from_secs(60));
/// assert_eq!(delay("40ms"), Ok(Time::from_millis(40)));
/// assert_eq!(delay("90s").unwrap_err().to_string(), "'90s' is out of range: 0s to 1min");
/// ```
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
