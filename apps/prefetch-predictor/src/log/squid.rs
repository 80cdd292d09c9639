// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Squid's native log: `time elapsed client action/status bytes method URL user hierarchy/peer type`.

use std::time::Duration;

use super::{client, Record};

pub(super) fn record(line: &str) -> Option<Record> {
    let mut words = line.split_whitespace();
    let at: f64 = words.next()?.parse().ok()?;
    let _elapsed: u64 = words.next()?.parse().ok()?;
    let address = words.next()?;
    let (_action, status) = words.next()?.split_once('/')?;
    let bytes = words.next()?.parse().ok()?;
    let (method, url) = (words.next()?, words.next()?);
    let user = words.next()?;
    Some(Record {
        at: Duration::try_from_secs_f64(at).ok()?,
        client: client(address, ""),
        method: method.to_owned(),
        url: url.to_owned(),
        status: status.parse().ok()?,
        bytes,
        user: user != "-",
    })
}
