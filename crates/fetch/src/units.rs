// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Numbers with units, as people type them.

use thiserror::Error;

/// Why a number with a unit was refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UnitError {
    #[error("'{0}' is not a number with an optional unit ({1}); write for example {2}")]
    Malformed(String, &'static str, &'static str),
    #[error("'{0}' must be greater than zero")]
    NotPositive(String),
}

/// Bits per second from `5mbit`, `500kbit`, `1gbit`, `9600bit` or a plain number (bit/s).
///
/// # Errors
/// Anything else, and anything that is not above zero.
pub fn bit_rate(text: &str) -> Result<f64, UnitError> {
    let units = [("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)];
    number(text, &units, "bit, kbit, mbit, gbit", "5mbit")
}

/// Bytes from `4k`, `1m`, `2g` (powers of 1024) or a plain number of bytes.
///
/// # Errors
/// Anything else, and anything below one byte.
pub fn bytes(text: &str) -> Result<u64, UnitError> {
    let units = [
        ("k", 1024.0),
        ("m", 1024.0 * 1024.0),
        ("g", 1024.0 * 1024.0 * 1024.0),
    ];
    let value = number(text, &units, "k, m, g", "64k")?;
    if value < 1.0 {
        return Err(UnitError::NotPositive(text.to_owned()));
    }
    Ok(value as u64)
}

/// Seconds from a plain number, as in `32` or `0.5`; zero is allowed.
///
/// # Errors
/// Anything that is not a finite number of at least zero.
pub fn seconds(text: &str) -> Result<f64, UnitError> {
    match text.trim().trim_end_matches('s').parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err(UnitError::Malformed(text.to_owned(), "s", "32")),
    }
}

fn number(
    text: &str,
    units: &[(&str, f64)],
    names: &'static str,
    example: &'static str,
) -> Result<f64, UnitError> {
    let lower = text.trim().to_ascii_lowercase();
    let (digits, factor) = units
        .iter()
        .find_map(|(suffix, factor)| lower.strip_suffix(suffix).map(|d| (d, *factor)))
        .unwrap_or((&lower, 1.0));
    let value: f64 = digits
        .trim()
        .parse()
        .map_err(|_| UnitError::Malformed(text.to_owned(), names, example))?;
    if !value.is_finite() || value <= 0.0 {
        return Err(UnitError::NotPositive(text.to_owned()));
    }
    Ok(value * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_scale_as_written() {
        assert_eq!(bit_rate("5mbit"), Ok(5e6));
        assert_eq!(bit_rate("9600"), Ok(9600.0));
        assert_eq!(bytes("4k"), Ok(4096));
        assert_eq!(bytes("1M"), Ok(1 << 20));
        assert_eq!(seconds("0.5s"), Ok(0.5));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "fast", "-5mbit", "0", "5mb", "nan"] {
            assert!(bit_rate(text).is_err(), "{text}");
        }
        assert!(bytes("0.2").is_err());
        assert!(seconds("-1").is_err());
    }
}
