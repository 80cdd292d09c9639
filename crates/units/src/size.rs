// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! How much.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::quantity::{print, Quantity, UnitError};

const EXAMPLE: &str = "60kB";
const NAMES: &str = "B, kB, MB, GB, or k, m, g (KiB, MiB, GiB)";
/// As coreutils have them: with a B powers of 1000, alone powers of 1024.
const UNITS: [(&str, u64); 18] = [
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
        let quantity = Quantity::read(text, EXAMPLE)?;
        quantity.scaled(text, &UNITS, NAMES).map(Self)
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        print(f, self.0, &UNITS)
    }
}
