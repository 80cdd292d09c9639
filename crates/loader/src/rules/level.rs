// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A level as the file has it: a number or a name.

use std::fmt::{self, Formatter};

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

use crate::group::level_named;

/// Its number, which may be too high.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Level(pub(super) u32);

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Written)
    }
}

struct Written;

impl Visitor<'_> for Written {
    type Value = Level;

    fn expecting(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str("a level: 0, 1, 2, \"low\", \"lower\" or \"lowest\"")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Level, E> {
        let level = u32::try_from(number).map(Level);
        level.map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Level, E> {
        let level = level_named(name).map(Level);
        level.ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
    }
}
