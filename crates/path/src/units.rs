// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Rates, durations, buffer sizes and probabilities as people write them.

use std::time::Duration;

use thiserror::Error;

/// Why a value could not be read; the text names the value and shows one that works.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UnitError {
    #[error("'{0}' does not start with a number; write for example {1}")]
    NoNumber(String, &'static str),
    #[error("'{0}' has no unit; write for example {1}")]
    NoUnit(String, &'static str),
    #[error("'{0}': the unit '{1}' is not known here; use {2}")]
    UnknownUnit(String, String, &'static str),
    #[error("'{0}' could mean bits or bytes; write bits as 10mbit, bytes as 10mB/s")]
    BitsOrBytes(String),
    #[error("'{0}' is out of range: {1}")]
    OutOfRange(String, &'static str),
}

/// A rate in bits a second, at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(pub u64);

/// How much a queue may hold, as asked for; a multiple of the BDP is resolved once rate and delay are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueueSize {
    Packets(u32),
    Bytes(u64),
    Bdp(f64),
}

/// A probability, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Probability(pub f64);

const RATE_EXAMPLE: &str = "10mbit";
const TIME_EXAMPLE: &str = "40ms";
const QUEUE_EXAMPLE: &str = "50p, 60kB or 1bdp";

/// Reads a rate: `bit`, `kbit`, `mbit`, `gbit`, or `kB`, `mB`, `gB` for bytes; an ending `/s` may follow.
pub fn rate(text: &str) -> Result<Rate, UnitError> {
    let (number, unit) = split(text, RATE_EXAMPLE)?;
    let unit = unit.strip_suffix("/s").unwrap_or(unit);
    let scale = match unit {
        "" => return Err(UnitError::NoUnit(text.into(), RATE_EXAMPLE)),
        "B" => 8.0,
        "kB" | "KB" => 8e3,
        "mB" | "MB" => 8e6,
        "gB" | "GB" => 8e9,
        _ => match unit.to_ascii_lowercase().as_str() {
            "bit" => 1.0,
            "kbit" => 1e3,
            "mbit" => 1e6,
            "gbit" => 1e9,
            "bps" | "kbps" | "mbps" | "gbps" => return Err(UnitError::BitsOrBytes(text.into())),
            _ => {
                return Err(UnitError::UnknownUnit(
                    text.into(),
                    unit.into(),
                    "bit, kbit, mbit, gbit, kB, mB or gB",
                ))
            }
        },
    };
    let bits = number * scale;
    if !(1.0..=1e12).contains(&bits) {
        return Err(UnitError::OutOfRange(
            text.into(),
            "a rate is 1bit to 1000gbit",
        ));
    }
    Ok(Rate(bits.round() as u64))
}

/// Reads a duration from 0 to 60 s: `us`, `ms` or `s`; a bare 0 needs no unit.
pub fn duration(text: &str) -> Result<Duration, UnitError> {
    let (number, unit) = split(text, TIME_EXAMPLE)?;
    let scale = match unit {
        "" if number == 0.0 => 1.0,
        "" => return Err(UnitError::NoUnit(text.into(), TIME_EXAMPLE)),
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => {
            return Err(UnitError::UnknownUnit(
                text.into(),
                unit.into(),
                "us, ms or s",
            ))
        }
    };
    let nanos = number * scale;
    if nanos > 60e9 {
        return Err(UnitError::OutOfRange(text.into(), "a delay is 0 to 60s"));
    }
    Ok(Duration::from_nanos(nanos.round() as u64))
}

/// Reads a trace interval: a duration of at least 1 ms.
pub fn interval(text: &str) -> Result<Duration, UnitError> {
    let read = duration(text)?;
    if read < Duration::from_millis(1) {
        return Err(UnitError::OutOfRange(
            text.into(),
            "an interval is 1ms to 60s",
        ));
    }
    Ok(read)
}

/// Reads a queue size: packets `p`, bytes `B`, `kB`, `KiB`, `MB`, `MiB`, or a multiple of the BDP `bdp`.
pub fn queue(text: &str) -> Result<QueueSize, UnitError> {
    let (number, unit) = split(text, QUEUE_EXAMPLE)?;
    let bytes = match unit {
        "" => return Err(UnitError::NoUnit(text.into(), QUEUE_EXAMPLE)),
        "p" => {
            if number.fract() != 0.0 || !(1.0..=1e6).contains(&number) {
                return Err(UnitError::OutOfRange(
                    text.into(),
                    "a queue holds 1p to 1000000p, whole packets",
                ));
            }
            return Ok(QueueSize::Packets(number as u32));
        }
        "bdp" | "BDP" => {
            if !(number > 0.0 && number <= 1000.0) {
                return Err(UnitError::OutOfRange(
                    text.into(),
                    "a queue is more than 0 and at most 1000bdp",
                ));
            }
            return Ok(QueueSize::Bdp(number));
        }
        "B" => number,
        "kB" | "KB" => number * 1e3,
        "mB" | "MB" => number * 1e6,
        "KiB" => number * 1024.0,
        "MiB" => number * 1048576.0,
        _ => {
            return Err(UnitError::UnknownUnit(
                text.into(),
                unit.into(),
                "p, B, kB, KiB, MB, MiB or bdp",
            ))
        }
    };
    if !(1500.0..=1e9).contains(&bytes) {
        return Err(UnitError::OutOfRange(
            text.into(),
            "a queue holds 1500B (one full packet) to 1000MB",
        ));
    }
    Ok(QueueSize::Bytes(bytes.round() as u64))
}

/// Reads a loss probability: a percentage from 0% to 100%.
pub fn probability(text: &str) -> Result<Probability, UnitError> {
    let (number, unit) = split(text, "2%")?;
    match unit {
        "%" => {}
        "" if number == 0.0 => {}
        "" => return Err(UnitError::NoUnit(text.into(), "2%")),
        _ => return Err(UnitError::UnknownUnit(text.into(), unit.into(), "%")),
    }
    if number > 100.0 {
        return Err(UnitError::OutOfRange(text.into(), "a loss is 0% to 100%"));
    }
    Ok(Probability(number / 100.0))
}

/// Splits a value into its number and its unit, without the space between them.
fn split<'a>(text: &'a str, example: &'static str) -> Result<(f64, &'a str), UnitError> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number = text[..end]
        .parse()
        .map_err(|_| UnitError::NoNumber(text.into(), example))?;
    Ok((number, text[end..].trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_bits_a_second() {
        assert_eq!(rate("10mbit"), Ok(Rate(10_000_000)));
        assert_eq!(rate("1.5 Mbit/s"), Ok(Rate(1_500_000)));
        assert_eq!(rate("1MB/s"), Ok(Rate(8_000_000)));
        assert_eq!(rate("1Gbit"), Ok(Rate(1_000_000_000)));
    }

    #[test]
    fn a_rate_that_could_be_bits_or_bytes_is_refused() {
        assert_eq!(rate("10mbps"), Err(UnitError::BitsOrBytes("10mbps".into())));
    }

    #[test]
    fn rates_out_of_range_or_without_unit_are_refused() {
        assert!(matches!(rate("0mbit"), Err(UnitError::OutOfRange(..))));
        assert!(matches!(rate("10"), Err(UnitError::NoUnit(..))));
        assert!(matches!(rate("fast"), Err(UnitError::NoNumber(..))));
        assert!(matches!(rate("-1mbit"), Err(UnitError::NoNumber(..))));
        assert!(matches!(rate("10mfoo"), Err(UnitError::UnknownUnit(..))));
        assert!(matches!(rate("1.2.3mbit"), Err(UnitError::NoNumber(..))));
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("40ms"), Ok(Duration::from_millis(40)));
        assert_eq!(duration("250us"), Ok(Duration::from_micros(250)));
        assert_eq!(duration("0.5s"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        assert!(matches!(duration("40"), Err(UnitError::NoUnit(..))));
        assert!(matches!(duration("61s"), Err(UnitError::OutOfRange(..))));
        assert!(matches!(interval("0"), Err(UnitError::OutOfRange(..))));
    }

    #[test]
    fn queues_are_packets_bytes_or_bdp() {
        assert_eq!(queue("50p"), Ok(QueueSize::Packets(50)));
        assert_eq!(queue("60kB"), Ok(QueueSize::Bytes(60_000)));
        assert_eq!(queue("64KiB"), Ok(QueueSize::Bytes(65_536)));
        assert_eq!(queue("0.5bdp"), Ok(QueueSize::Bdp(0.5)));
        assert!(matches!(queue("0p"), Err(UnitError::OutOfRange(..))));
        assert!(matches!(queue("1.5p"), Err(UnitError::OutOfRange(..))));
        assert!(matches!(queue("100B"), Err(UnitError::OutOfRange(..))));
        assert!(matches!(queue("0bdp"), Err(UnitError::OutOfRange(..))));
        assert!(matches!(queue("50"), Err(UnitError::NoUnit(..))));
    }

    #[test]
    fn losses_are_percentages() {
        assert_eq!(probability("2%"), Ok(Probability(0.02)));
        assert_eq!(probability("0"), Ok(Probability(0.0)));
        assert!(matches!(probability("0.02"), Err(UnitError::NoUnit(..))));
        assert!(matches!(
            probability("101%"),
            Err(UnitError::OutOfRange(..))
        ));
    }
}
