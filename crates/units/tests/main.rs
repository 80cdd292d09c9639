// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The grammar: what is read, as what, and what is refused with which words. Every printed value is read as the same value.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use netnice_units::{seconds, within, Quantity, Rate, Share, Size, Time, UnitError};
use proptest::prelude::*;

fn bits(text: &str) -> Result<u64, UnitError> {
    text.parse().map(Rate::bits)
}

fn bytes(text: &str) -> Result<u64, UnitError> {
    text.parse().map(Size::bytes)
}

fn nanos(text: &str) -> Result<u64, UnitError> {
    text.parse().map(Time::as_nanos)
}

fn share(text: &str) -> Result<f64, UnitError> {
    text.parse().map(Share::to_f64)
}

#[test]
fn rates_are_bits_a_second() {
    assert_eq!(bits("10mbit"), Ok(10_000_000));
    assert_eq!(bits("1.5 Mbit/s"), Ok(1_500_000));
    assert_eq!(bits("1MB/s"), Ok(8_000_000));
    assert_eq!(bits("60kB"), Ok(480_000));
    assert_eq!(bits("1Gbit"), Ok(1_000_000_000));
    assert_eq!(bits("9600bit"), Ok(9600));
    assert_eq!(bits(".5kbit"), Ok(500));
}

#[test]
fn a_rate_that_could_be_bits_or_bytes_is_refused() {
    for text in ["10mbps", "10Mbps", "1kbps"] {
        assert_eq!(bits(text), Err(UnitError::BitsOrBytes(text.into())));
    }
    assert!(matches!(bits("5mb"), Err(UnitError::UnknownUnit(..))));
}

#[test]
fn rates_of_nothing_or_without_unit_are_refused() {
    assert!(matches!(bits("0mbit"), Err(UnitError::OutOfRange(..))));
    assert!(matches!(bits("0.1bit"), Err(UnitError::OutOfRange(..))));
    assert!(matches!(bits("10"), Err(UnitError::NoUnit(..))));
    assert!(matches!(bits("10mfoo"), Err(UnitError::UnknownUnit(..))));
    assert!(matches!(bits("10 zbit"), Err(UnitError::UnknownUnit(..))));
}

#[test]
fn what_is_no_decimal_number_is_refused() {
    for text in ["", "fast", "-1mbit", "1.2.3mbit", ".mbit", "nan", "+1mbit"] {
        assert!(matches!(bits(text), Err(UnitError::NoNumber(..))), "{text}");
    }
    let long = "123456789012345678901bit";
    assert!(matches!(bits(long), Err(UnitError::TooLong(..))));
}

#[test]
fn sizes_are_bytes_as_coreutils_have_them() {
    assert_eq!(bytes("1500"), Ok(1500));
    assert_eq!(bytes("60kB"), Ok(60_000));
    assert_eq!(bytes("64KiB"), Ok(65_536));
    assert_eq!(bytes("4k"), Ok(4096));
    assert_eq!(bytes("1M"), Ok(1 << 20));
    assert_eq!(bytes("0.5GiB"), Ok(1 << 29));
    assert!(matches!(bytes("4kbit"), Err(UnitError::UnknownUnit(..))));
    assert!(matches!(bytes("99999999999g"), Err(UnitError::OutOfRange(..))));
}

#[test]
fn times_have_units() {
    assert_eq!(nanos("40ms"), Ok(40_000_000));
    assert_eq!(nanos("250us"), nanos("250µs"));
    assert_eq!(nanos("0.5s"), nanos("500ms"));
    assert_eq!(nanos("1.5h"), nanos("90min"));
    assert_eq!(nanos("0"), Ok(0));
    assert!(matches!(nanos("40"), Err(UnitError::NoUnit(..))));
    assert!(matches!(nanos("5m"), Err(UnitError::UnknownUnit(..))));
}

#[test]
fn a_bare_number_is_seconds_where_the_option_says_so() {
    assert_eq!(seconds("30"), Ok(Time::from_secs(30)));
    assert_eq!(seconds("0.5s"), Ok(Time::from_millis(500)));
    assert_eq!(seconds("2min"), Ok(Time::from_secs(120)));
    assert!(seconds("-1").is_err());
}

#[test]
fn shares_are_percentages() {
    assert_eq!(share("2%"), Ok(0.02));
    assert_eq!(share("0"), Ok(0.0));
    assert_eq!(share("100%"), Ok(1.0));
    assert!(matches!(share("0.02"), Err(UnitError::NoUnit(..))));
    assert!(matches!(share("101%"), Err(UnitError::OutOfRange(..))));
}

#[test]
fn a_range_includes_its_ends_and_says_them() {
    let delay = within(Time::from_millis(1), Time::from_secs(60));
    assert_eq!(delay("1ms"), Ok(Time::from_millis(1)));
    assert_eq!(delay("60s"), Ok(Time::from_secs(60)));
    let why = delay("61s").unwrap_err().to_string();
    assert_eq!(why, "'61s' is out of range: 1ms to 1min");
    assert!(matches!(delay("0"), Err(UnitError::OutOfRange(..))));
    assert!(matches!(delay("40"), Err(UnitError::NoUnit(..))));
}

#[test]
fn own_units_begin_with_a_quantity() {
    let packets = Quantity::read("50 p", "50p").expect("a quantity");
    assert_eq!((packets.whole(), packets.unit), (Some(50), "p"));
    let half = Quantity::read("0.5bdp", "1bdp").expect("a quantity");
    assert_eq!((half.whole(), half.to_f64()), (None, 0.5));
}

#[test]
fn the_words_name_the_value_and_one_that_works() {
    let words = |e: Result<u64, UnitError>| e.unwrap_err().to_string();
    assert_eq!(words(bits("10")), "'10' has no unit; write for example 10mbit");
    assert_eq!(
        words(nanos("5m")),
        "'5m': the unit 'm' is not known here; use ns, us, ms, s, min, h or d"
    );
}

fn returns<T: FromStr<Err = UnitError> + Display + Debug + PartialEq>(value: &T) {
    let text = value.to_string();
    assert_eq!(text.parse().as_ref(), Ok(value), "{text}");
}

/// Round numbers, too: they are printed in the larger units.
fn counts() -> impl Strategy<Value = u64> {
    let scales = prop::sample::select(vec![1, 1000, 1024, 60_000_000_000, 1 << 20, 86_400_000_000_000]);
    prop_oneof![any::<u64>(), (0..200_000u64, scales).prop_map(|(n, scale)| n * scale)]
}

proptest! {
    #[test]
    fn printed_rates_are_read_again(bits in counts()) {
        if let Some(rate) = Rate::from_bits(bits) {
            returns(&rate);
        }
    }

    #[test]
    fn printed_sizes_are_read_again(bytes in counts()) {
        returns(&Size(bytes));
    }

    #[test]
    fn printed_times_are_read_again(nanoseconds in counts()) {
        returns(&Time::from_nanos(nanoseconds));
    }

    #[test]
    fn printed_shares_are_read_again(billionths in 0..=1_000_000_000u32) {
        let share: Share = format!("{}%", f64::from(billionths) / 1e7).parse().expect("a share");
        prop_assert_eq!(share.to_f64(), f64::from(billionths) / 1e9);
        returns(&share);
    }

    #[test]
    fn decimals_are_exact(whole in 0..1_000_000u64, thousandths in 0..1000u64) {
        let size: Size = format!("{whole}.{thousandths:03}kB").parse().expect("a size");
        prop_assert_eq!(size.bytes(), whole * 1000 + thousandths);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9.]{0,24} ?\\PC{0,6}") {
        let _ = (text.parse::<Rate>(), text.parse::<Size>(), text.parse::<Time>(), text.parse::<Share>());
    }
}
