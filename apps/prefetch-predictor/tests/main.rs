// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The predictor: the logs it learns from, lines as servers write them. Its definition, its bounds and budget, and what it
//! keeps to itself are in files of their own.

mod bounds;
mod budget;
mod definition;
mod withheld;

use netnice_prefetch_predictor::log::{is_page, Reader, Record};
use proptest::prelude::*;

fn read(line: &str) -> Option<Record> {
    Reader::default().line(line)
}

#[test]
fn common() {
    let line = r#"192.0.2.7 - - [30/Jan/2001:13:55:36 -0700] "GET /world/ HTTP/1.0" 200 2326"#;
    let record = read(line).unwrap();
    assert_eq!(record.at.as_secs(), 980_888_136);
    assert_eq!((record.method.as_str(), record.url.as_str()), ("GET", "/world/"));
    assert_eq!((record.status, record.bytes, record.user), (200, 2326, false));
    assert!(record.is_learnable() && is_page(&record.url));
}

#[test]
fn combined_tells_programs_behind_one_address_apart() {
    let line = |program: &str| {
        format!(r#"192.0.2.7 - - [30/Jan/2001:13:55:36 +0000] "GET /a\"b.png HTTP/1.1" 304 - "http://a/" "{program}""#)
    };
    let (a, b) = (read(&line("one")).unwrap(), read(&line("two")).unwrap());
    assert_eq!((a.address, a.program.as_str()), (b.address, "one"));
    assert_eq!(b.program, "two");
    assert_eq!((a.bytes, a.url.as_str()), (0, r#"/a\"b.png"#));
    assert!(!is_page(&a.url));
}

#[test]
fn w3c_by_its_own_header() {
    let mut reader = Reader::default();
    assert_eq!(reader.line("2024-05-01 10:00:01 192.0.2.7 GET /a - 200"), None);
    assert_eq!(
        reader.line("#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status"),
        None
    );
    let record = reader.line("2024-05-01 10:00:01 192.0.2.7 GET /a q=1 200").unwrap();
    assert_eq!((record.at.as_secs(), record.url.as_str()), (1_714_557_601, "/a?q=1"));
    assert_eq!(record.address, "192.0.2.7");
}

#[test]
fn squid() {
    let line = "980888136.412  523 10.0.0.3 TCP_MISS/200 5210 GET http://news.example/ - DIRECT/192.0.2.1 text/html";
    let record = read(line).unwrap();
    assert_eq!((record.at.as_millis(), record.bytes), (980_888_136_412, 5210));
    assert_eq!(record.url, "http://news.example/");
}

#[test]
fn nothing_is_learned_from_people_logged_in_nor_from_failures() {
    for line in [
        r#"192.0.2.7 - anna [30/Jan/2001:13:55:36 +0000] "GET /a HTTP/1.0" 200 1"#,
        r#"192.0.2.7 - - [30/Jan/2001:13:55:36 +0000] "POST /a HTTP/1.0" 200 1"#,
        r#"192.0.2.7 - - [30/Jan/2001:13:55:36 +0000] "GET /a HTTP/1.0" 404 1"#,
        r#"192.0.2.7 - - [30/Jan/2001:13:55:36 +0000] "GET /a HTTP/1.0" 206 1"#,
    ] {
        assert!(!read(line).unwrap().is_learnable(), "{line}");
    }
}

#[test]
fn pages_are_what_one_navigates_to() {
    for page in [
        "/",
        "/a",
        "/a.html",
        "/a.b/c",
        "/paper.pdf",
        "/a?x=b.png",
        "http://a.example/",
    ] {
        assert!(is_page(page), "{page}");
    }
    for embedded in ["/a.png", "/b/a.JPG?v=2", "/s.css", "/x.min.js#a"] {
        assert!(!is_page(embedded), "{embedded}");
    }
}

proptest! {
    #[test]
    fn no_line_is_too_strange(line in r#"[ -~"\[\]\\é]{0,120}"#) {
        read(&line);
    }

    #[test]
    fn nor_is_one_cut_short(end in 0..140usize) {
        let line = r#"192.0.2.7 - - [30/Jan/2001:13:55:36 +0000] "GET /a HTTP/1.1" 304 - "http://a/" "Mozilla/5.0 (X11)""#;
        read(&line[..end.min(line.len())]);
    }
}
