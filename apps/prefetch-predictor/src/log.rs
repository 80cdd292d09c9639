// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Access logs, a line at a time: Common and Combined (Apache, nginx), W3C extended (IIS), Squid's own.

use std::time::Duration;

use chrono::{DateTime, NaiveDateTime};

/// Reads lines of any of these formats; a W3C log's own header says what its fields are.
#[derive(Debug, Default)]
pub struct Reader {
    w3c: Fields,
}

impl Reader {
    /// `None`: a comment, or no line of any format.
    pub fn line(&mut self, line: &str) -> Option<Record> {
        if self.w3c.header(line) {
            return None;
        }
        self.w3c.record(line).or_else(|| apache(line)).or_else(|| squid(line))
    }
}

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Since 1970.
    pub at: Duration,
    /// Of the client; in some logs a name.
    pub address: String,
    /// Of the client; empty where the log does not say.
    pub program: String,
    pub method: String,
    /// As it was asked for: a path, from a proxy's log a whole URL.
    pub url: String,
    pub status: u16,
    /// Bytes of the reply; 0 where the log does not say.
    pub bytes: u64,
    /// Whether a user was logged in by HTTP's own means.
    pub user: bool,
}

impl Record {
    /// Whether a predictor may learn from it; nothing from errors, partial replies, forms and people logged in.
    pub fn is_learnable(&self) -> bool {
        self.method == "GET" && matches!(self.status, 200 | 304) && !self.user
    }
}

/// What pages embed: no page itself. The paper's were images.
const EMBEDDED: [&str; 30] = [
    "avif", "bmp", "css", "eot", "gif", "ico", "jpeg", "jpg", "js", "json", "m4a", "map", "mjs", "mp3", "mp4", "ogg",
    "otf", "png", "svg", "swf", "tif", "tiff", "ttf", "wasm", "wav", "webm", "webp", "woff", "woff2", "xml",
];

/// Whether the URL is a page: what one navigates to, not what a page embeds.
pub fn is_page(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((_, extension)) = name.rsplit_once('.') else {
        return true;
    };
    !EMBEDDED.iter().any(|e| e.eq_ignore_ascii_case(extension))
}

fn apache(line: &str) -> Option<Record> {
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
        address: address.to_owned(),
        program: program.to_owned(),
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

#[derive(Debug, Default)]
pub(super) struct Fields(Vec<String>);

impl Fields {
    /// Whether the line is a comment or header; takes the names from it.
    pub fn header(&mut self, line: &str) -> bool {
        if let Some(names) = line.strip_prefix("#Fields:") {
            self.0 = names.split_whitespace().map(str::to_owned).collect();
        }
        line.starts_with('#')
    }

    pub fn record(&self, line: &str) -> Option<Record> {
        let column = |name: &str| {
            let at = self.0.iter().position(|n| n == name)?;
            line.split_whitespace().nth(at).filter(|value| *value != "-")
        };
        let time = format!("{} {}", column("date")?, column("time")?);
        let time = NaiveDateTime::parse_from_str(&time, "%Y-%m-%d %H:%M:%S%.f").ok()?;
        let stem = column("cs-uri-stem")?;
        let url = match column("cs-uri-query") {
            Some(query) => format!("{stem}?{query}"),
            None => stem.to_owned(),
        };
        Some(Record {
            at: Duration::from_millis(time.and_utc().timestamp_millis().try_into().ok()?),
            address: column("c-ip")?.to_owned(),
            program: column("cs(User-Agent)").unwrap_or_default().to_owned(),
            method: column("cs-method")?.to_owned(),
            url,
            status: column("sc-status")?.parse().ok()?,
            bytes: column("sc-bytes").and_then(|b| b.parse().ok()).unwrap_or(0),
            user: column("cs-username").is_some(),
        })
    }
}

fn squid(line: &str) -> Option<Record> {
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
        address: address.to_owned(),
        program: String::new(),
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
