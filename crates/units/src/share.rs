// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What part of the whole.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::quantity::{Quantity, UnitError};

const EXAMPLE: &str = "2%";
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
        let quantity = Quantity::read(text, EXAMPLE)?;
        match quantity.unit {
            "%" => {}
            "" if quantity.is_zero() => {}
            "" => return Err(UnitError::NoUnit(text.into(), EXAMPLE)),
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
