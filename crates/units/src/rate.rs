// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! How fast.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::quantity::{print, Quantity, UnitError};

const EXAMPLE: &str = "10mbit";
const NAMES: &str = "bit, kbit, mbit, gbit, or B, kB, MB, GB";
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
        let mut quantity = Quantity::read(text, EXAMPLE)?;
        quantity.unit = quantity.unit.strip_suffix("/s").unwrap_or(quantity.unit);
        let lower = quantity.unit.to_ascii_lowercase();
        let bits = match lower.as_str() {
            "" => return Err(UnitError::NoUnit(text.into(), EXAMPLE)),
            "bps" | "kbps" | "mbps" | "gbps" => return Err(UnitError::BitsOrBytes(text.into())),
            bits if bits.ends_with("bit") => {
                let quantity = Quantity {
                    unit: bits,
                    ..quantity
                };
                quantity.scaled(text, &BITS, NAMES)?
            }
            _ => quantity.scaled(text, &BYTES, NAMES)?,
        };
        Self::from_bits(bits)
            .ok_or_else(|| UnitError::OutOfRange(text.into(), "a rate is at least 1bit".into()))
    }
}

impl Display for Rate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        print(f, self.0, &BITS)
    }
}
