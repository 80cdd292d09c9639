// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Squid's native log: `time elapsed client action/status bytes method URL user hierarchy/peer type`.

use std::time::Duration;

use super::record::{client, Record};

pub(super) fn record(line: &str) -> Option<Record> {
    let mut words = line.split_whitespace();
    let at = time(words.next()?)?;
    let _elapsed: u64 = words.next()?.parse().ok()?;
    let address = words.next()?;
    let (_action, status) = words.next()?.split_once('/')?;
    let bytes = words.next()?.parse().ok()?;
    let (method, url) = (words.next()?, words.next()?);
    let user = words.next()?;
    Some(Record {
        at,
        client: client(address, ""),
        method: method.to_owned(),
        url: url.to_owned(),
        status: status.parse().ok()?,
        bytes,
        user: user != "-",
    })
}

/// Seconds and milliseconds, `980888136.412`: exactly, as floating point loses the last.
fn time(text: &str) -> Option<Duration> {
    let (seconds, milliseconds) = text.split_once('.')?;
    let milliseconds: u64 = milliseconds.parse().ok().filter(|ms| *ms < 1000)?;
    Some(Duration::from_secs(seconds.parse().ok()?) + Duration::from_millis(milliseconds))
}
