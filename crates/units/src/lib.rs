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

mod quantity;
mod range;
mod rate;
mod share;
mod size;
mod time;

pub use quantity::{Quantity, UnitError};
pub use range::within;
pub use rate::Rate;
pub use share::Share;
pub use size::Size;
pub use time::{seconds, Time};
