// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Common Log Format, and Combined, which has referrer and program at its end.

use std::time::Duration;

use chrono::DateTime;

use super::record::{client, Record};

pub(super) fn record(line: &str) -> Option<Record> {
    let (address, rest) = line.split_once(' ')?;
    let (names, rest) = rest.split_once(" [")?;
    let (time, rest) = rest.split_once("] \"")?;
    let (request, rest) = quoted(rest)?;
    let user = names.split_once(' ')?.1;
    let mut words = request.split(' ');
    let (method, url) = (words.next()?, words.next()?);
    let mut words = rest.trim_start().splitn(3, ' ');
    let status = words.next()?.parse().ok()?;
    let bytes = words.next().and_then(|b| b.parse().ok()).unwrap_or(0);
    let program = words.next().and_then(program).unwrap_or_default();
    let time = DateTime::parse_from_str(time, "%d/%b/%Y:%H:%M:%S %z").ok()?;
    Some(Record {
        at: Duration::from_secs(time.timestamp().try_into().ok()?),
        client: client(address, program),
        method: method.to_owned(),
        url: url.to_owned(),
        status,
        bytes,
        user: user != "-",
    })
}

fn program(rest: &str) -> Option<&str> {
    let (_referrer, rest) = quoted(rest.strip_prefix('"')?)?;
    Some(quoted(rest.trim_start().strip_prefix('"')?)?.0)
}

/// Up to the next quote that no backslash precedes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let end = text.bytes().position(|b| {
        let end = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        end
    })?;
    Some((&text[..end], &text[end + 1..]))
}
