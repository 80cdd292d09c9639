// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Queue sizes as people write them: packets, bytes, or multiples of the bandwidth-delay product.

use std::str::FromStr;

use netnice_units::{Quantity, Size, UnitError};

const EXAMPLE: &str = "50p, 60kB or 1bdp";
const MOST_PACKETS: u64 = 1_000_000;
const MOST_BDP: f64 = 1000.0;
/// One full packet.
const LEAST_BYTES: u64 = 1500;
const MOST_BYTES: u64 = 1_000_000_000;

/// How much a queue may hold, as asked for; a multiple of the BDP is resolved once rate and delay are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueueSize {
    Packets(u32),
    Bytes(u64),
    Bdp(f64),
}

impl FromStr for QueueSize {
    type Err = UnitError;

    /// Packets `p`, a multiple of the BDP `bdp`, or a size with its unit.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let quantity = Quantity::read(text, EXAMPLE)?;
        let range = |range: &str| UnitError::OutOfRange(text.into(), range.into());
        match quantity.unit {
            "" => Err(UnitError::NoUnit(text.into(), EXAMPLE)),
            "p" => match quantity.whole() {
                Some(packets @ 1..=MOST_PACKETS) => Ok(Self::Packets(packets as u32)),
                _ => Err(range("a queue holds 1p to 1000000p, whole packets")),
            },
            "bdp" | "BDP" => match quantity.to_f64() {
                bdps if bdps > 0.0 && bdps <= MOST_BDP => Ok(Self::Bdp(bdps)),
                _ => Err(range("a queue is more than 0 and at most 1000bdp")),
            },
            unit => match text.parse().map(Size::bytes) {
                Ok(bytes @ LEAST_BYTES..=MOST_BYTES) => Ok(Self::Bytes(bytes)),
                Ok(_) => Err(range("a queue holds 1500B (one full packet) to 1000MB")),
                Err(UnitError::UnknownUnit(..)) => Err(UnitError::UnknownUnit(
                    text.into(),
                    unit.into(),
                    "p, bdp, or B, kB, KiB, MB, MiB",
                )),
                Err(why) => Err(why),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(text: &str) -> Result<QueueSize, UnitError> {
        text.parse()
    }

    #[test]
    fn queues_are_packets_bytes_or_bdp() {
        assert_eq!(queue("50p"), Ok(QueueSize::Packets(50)));
        assert_eq!(queue("60kB"), Ok(QueueSize::Bytes(60_000)));
        assert_eq!(queue("64KiB"), Ok(QueueSize::Bytes(65_536)));
        assert_eq!(queue("0.5bdp"), Ok(QueueSize::Bdp(0.5)));
    }

    #[test]
    fn queues_that_cannot_be_are_refused() {
        for text in ["0p", "1.5p", "100B", "0bdp", "1001bdp", "2GB"] {
            let out = matches!(queue(text), Err(UnitError::OutOfRange(..)));
            assert!(out, "{text}: {:?}", queue(text));
        }
        assert!(matches!(queue("50"), Err(UnitError::NoUnit(..))));
        let why = queue("50x").unwrap_err().to_string();
        assert!(why.contains("p, bdp, or B"), "{why}");
    }
}
