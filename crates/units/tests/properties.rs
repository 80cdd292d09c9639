// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Whatever the value: what is printed is read as the same value, and no text makes the reader panic.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use netnice_units::{Rate, Share, Size, Time, UnitError};
use proptest::prelude::*;

fn returns<T: FromStr<Err = UnitError> + Display + Debug + PartialEq>(value: &T) {
    let text = value.to_string();
    assert_eq!(text.parse().as_ref(), Ok(value), "{text}");
}

/// Round numbers, too: they are printed in the larger units.
fn counts() -> impl Strategy<Value = u64> {
    let scales = prop::sample::select(vec![
        1,
        1000,
        1024,
        60_000_000_000,
        1 << 20,
        86_400_000_000_000,
    ]);
    prop_oneof![
        any::<u64>(),
        (0..200_000u64, scales).prop_map(|(n, scale)| n * scale)
    ]
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
