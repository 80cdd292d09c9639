// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What headers say about a request and its reply: is it prefetched, is it personal, is it worth keeping.

use std::time::{Duration, SystemTime};

use hyper::header::{
    HeaderMap, HeaderName, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, COOKIE, DATE, EXPIRES, LAST_MODIFIED,
    SET_COOKIE, VARY,
};
use hyper::StatusCode;
use netnice_prefetch_predictor::matches;

/// A browser's heuristic keeps a tenth of a document's age: below this it would ask again.
const LEAST_FRESHNESS: Duration = Duration::from_secs(60);
/// No hint names a longer URL.
const LONGEST_URL: usize = 1024;
/// The proxy's own pages.
pub const OWN: &str = "/.well-known/netnice-prefetch/";

static SEC_PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");
static SAVE_DATA: HeaderName = HeaderName::from_static("save-data");

fn values<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).iter().filter_map(|v| v.to_str().ok())
}

/// The directives of a list, without their quotes: `a, b=1` is `(a, None), (b, Some(1))`.
fn directives<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    values(headers, name)
        .flat_map(|value| value.split(','))
        .map(|part| match part.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().trim_matches('"'))),
            None => (part.trim(), None),
        })
}

fn cache_control<'a>(headers: &'a HeaderMap, name: &str) -> Option<Option<&'a str>> {
    directives(headers, &CACHE_CONTROL)
        .find(|(directive, _)| directive.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

/// `Sec-Purpose: prefetch`; parameters may follow the token.
pub fn is_prefetch(headers: &HeaderMap) -> bool {
    let tokens = values(headers, &SEC_PURPOSE).flat_map(|v| v.split([',', ';']));
    tokens.into_iter().any(|t| t.trim().eq_ignore_ascii_case("prefetch"))
}

/// The user asked for less data: browsers prefetch nonetheless where they are told to.
pub fn saves_data(headers: &HeaderMap) -> bool {
    values(headers, &SAVE_DATA).any(|v| v.trim().eq_ignore_ascii_case("on"))
}

pub fn is_html(headers: &HeaderMap) -> bool {
    let mut types = values(headers, &CONTENT_TYPE);
    types.any(|v| {
        v.trim_start()
            .get(..9)
            .is_some_and(|t| t.eq_ignore_ascii_case("text/html"))
    })
}

/// Whether the request may have had an answer for one person only. `harmless` cookies do not count; `*` at a name's
/// end stands for anything.
pub fn names_a_person(headers: &HeaderMap, harmless: &[String]) -> bool {
    let is_harmless = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default().trim();
        harmless.iter().any(|pattern| matches(pattern, name))
    };
    let cookies = headers.get_all(COOKIE);
    headers.contains_key(AUTHORIZATION)
        || cookies.iter().any(|v| match v.to_str() {
            Ok(text) => !text.split(';').all(is_harmless),
            Err(_) => true,
        })
}

/// Whether the reply is for one person only, as its server says, or as `asked_by_person` makes likely (RFC 9111, 3.5).
pub fn is_personal(reply: &HeaderMap, asked_by_person: bool) -> bool {
    let said = |name| cache_control(reply, name).is_some();
    said("private")
        || said("no-store")
        || reply.contains_key(SET_COOKIE)
        || (asked_by_person && (varies_by_person(reply) || !(said("public") || said("s-maxage"))))
}

fn varies_by_person(reply: &HeaderMap) -> bool {
    directives(reply, &VARY).any(|(name, _)| {
        name == "*" || name.eq_ignore_ascii_case("cookie") || name.eq_ignore_ascii_case("authorization")
    })
}

/// What a reply says of its URL: whether any user's browser may keep it. `None`: nothing.
pub fn is_for_everybody(status: StatusCode, reply: &HeaderMap, now: SystemTime) -> Option<bool> {
    match status {
        _ if is_personal(reply, false) || varies_by_person(reply) => Some(false),
        StatusCode::OK => Some(is_reusable(reply, now)),
        StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED => None,
        _ => Some(false),
    }
}

/// Whether a browser that prefetched the reply would use it on a click, without asking again.
pub fn is_reusable(reply: &HeaderMap, now: SystemTime) -> bool {
    let said = |name| cache_control(reply, name).is_some();
    let hostile = |name: &str| name == "*" || name.eq_ignore_ascii_case("sec-purpose");
    if said("no-store") || said("no-cache") || directives(reply, &VARY).any(|(name, _)| hostile(name)) {
        return false;
    }
    if let Some(age) = cache_control(reply, "max-age") {
        return age.and_then(|a| a.parse::<u64>().ok()).is_some_and(|a| a > 0);
    }
    let time = |name| {
        values(reply, &name)
            .next()
            .and_then(|v| httpdate::parse_http_date(v).ok())
    };
    let date = time(DATE).unwrap_or(now);
    if reply.contains_key(EXPIRES) {
        return time(EXPIRES).is_some_and(|expires| expires > date);
    }
    let age = time(LAST_MODIFIED).and_then(|modified| date.duration_since(modified).ok());
    age.is_some_and(|age| age / 10 >= LEAST_FRESHNESS)
}

/// Whether a hint may name the URL: a plain path here, with nothing that means anything to a header or to HTML.
pub fn is_plain(url: &str) -> bool {
    let odd = |b: u8| !b.is_ascii_graphic() || b"<>\"'`\\{}|^,;".contains(&b);
    url.starts_with('/')
        && !url.starts_with("//")
        && url.len() <= LONGEST_URL
        && !url.bytes().any(odd)
        && !url.split(['/', '?']).any(|part| part == ".." || part == ".")
        && !url.starts_with(OWN)
}

/// The path that a `Referer` of this very site names.
pub fn own_referrer<'a>(referrer: &'a str, host: &str) -> Option<&'a str> {
    let rest = referrer
        .strip_prefix("http://")
        .or_else(|| referrer.strip_prefix("https://"))?;
    let path = rest.strip_prefix(host)?;
    path.starts_with('/').then_some(path)
}
