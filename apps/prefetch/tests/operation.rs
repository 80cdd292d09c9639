// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Settings, limits, and requests that are no honest browser's.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::harness::{address_of, connect, header, page, run, Folder, Proxy, Site};

fn site() -> Site {
    Site::new(|_| page("a page"))
}

/// What the proxy answers to bytes as they are; empty where it only hangs up.
fn raw(proxy: &Proxy, bytes: &[u8]) -> String {
    let mut stream = connect(proxy.address);
    stream.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_reload_drops_no_request() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "");
    let mut browser = proxy.browser("one");
    for i in 0..200 {
        if i % 10 == 0 {
            proxy.signal(libc::SIGHUP);
        }
        assert_eq!(browser.get(&format!("/{i}"), "").status, 200);
    }
    // What is wrong changes nothing; what is right counts at once.
    let config = std::fs::read_to_string(folder.0.join("config.toml")).unwrap();
    folder.file("config.toml", &format!("{config}\n[prefetch]\nouttstanding = 2\n"));
    proxy.signal(libc::SIGHUP);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(browser.get("/", "").status, 200);
    let other = site_with("another");
    folder.file(
        "config.toml",
        &config.replace(&site.address.to_string(), &other.address.to_string()),
    );
    proxy.signal(libc::SIGHUP);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(browser.get("/", "").text(), "another");
}

fn site_with(text: &'static str) -> Site {
    Site::new(move |_| page(text))
}

#[test]
fn replies_under_way_are_sent_before_the_end() {
    let slow = Site::new(|_| crate::harness::Answer {
        after: Duration::from_millis(800),
        ..page("late")
    });
    let folder = Folder::new();
    let proxy = Proxy::new(&slow, &folder, "");
    let mut browser = proxy.browser("one");
    browser.send("/", "");
    std::thread::sleep(Duration::from_millis(300));
    let reading = std::thread::spawn(move || browser.receive().text());
    proxy.end();
    assert_eq!(reading.join().unwrap(), "late");
}

#[test]
fn wrong_settings_say_what_is_wrong() {
    let folder = Folder::new();
    for (text, said) in [
        ("[prefetch]\nouttstanding = 2", "outtstanding"),
        ("[prefetch]\nsize = \"3 parsecs\"", "parsecs"),
        ("[prefetch]\noutstanding = 9", "1 to 3"),
        ("upstream = \"https://a\"", "http://HOST:PORT"),
        ("listen = []", "listen"),
        ("[limits]\nhead = \"1k\"", "8 KiB"),
    ] {
        let file = folder.file("wrong.toml", text);
        let done = run(&["check", file.to_str().unwrap()]);
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(1) && error.contains(said), "{text}: {error}");
    }
    let file = folder.file(
        "right.toml",
        "[limits]\nstall = \"5s\"\n[prefetch]\npreset = \"conservative\"\n",
    );
    let done = run(&["check", file.to_str().unwrap()]);
    assert!(done.status.success() && String::from_utf8_lossy(&done.stdout).contains("Conservative"));
}

#[test]
fn requests_that_two_servers_read_in_two_ways_are_refused() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "");
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: site\r\n\r\n";
    for head in [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: +5",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding : chunked",
        "Host: other",
    ] {
        let text = format!("POST / HTTP/1.1\r\nHost: site\r\n{head}\r\n\r\n0\r\n\r\n{smuggled}");
        let answer = raw(&proxy, text.as_bytes());
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 400"),
            "{head}: {answer}"
        );
    }
    for text in [
        "GET / HTTP/1.1\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: site\r\n\r\n",
    ] {
        let answer = raw(&proxy, text.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 40"), "{text}: {answer}");
    }
    let seen = site.requests();
    assert!(!seen.iter().any(|head| head.contains("smuggled")), "{seen:?}");
}

/// The site sees no other framing than ours. After a length beside a coding the connection ends (RFC 9112, 6.3).
#[test]
fn a_request_is_framed_anew() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "");
    let chunks = "1\r\nx\r\n0\r\n\r\nGET /next HTTP/1.1\r\nHost: site\r\n\r\n";
    let both = "Content-Length: 5\r\nTransfer-Encoding: chunked";
    raw(
        &proxy,
        format!("POST / HTTP/1.1\r\nHost: site\r\n{both}\r\n\r\n{chunks}").as_bytes(),
    );
    let twice = "Content-Length: 5\r\nContent-Length: 5\r\nConnection: close";
    raw(
        &proxy,
        format!("POST / HTTP/1.1\r\nHost: site\r\n{twice}\r\n\r\nhello").as_bytes(),
    );
    let seen = site.requests();
    let framing = |head: &str| (lines_of(head, "content-length:"), lines_of(head, "transfer-encoding:"));
    assert_eq!(
        seen.iter().map(|head| framing(head)).collect::<Vec<_>>(),
        [(0, 1), (1, 0)],
        "{seen:?}"
    );
}

fn lines_of(head: &str, name: &str) -> usize {
    head.lines().filter(|line| line.starts_with(name)).count()
}

#[test]
fn what_browsers_say_of_others_is_replaced() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "");
    let lies = "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\nConnection: X-Secret, close\r\nX-Secret: 1\r\n";
    proxy.browser("one").get("/", lies);
    let head = &site.requests()[0];
    assert_eq!(
        header(head, "x-forwarded-for"),
        Some(address_of("one").to_string().as_str())
    );
    assert_eq!(header(head, "x-forwarded-host"), Some("site"));
    assert_eq!(header(head, "x-forwarded-proto"), Some("http"));
    assert_eq!(header(head, "x-secret"), None);
    let absolute = raw(
        &proxy,
        b"GET http://real.example/a HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n",
    );
    assert!(absolute.starts_with("HTTP/1.1 200"));
    assert_eq!(header(&site.requests()[1], "host"), Some("real.example"));
}

#[test]
fn slow_ones_and_too_many_are_shown_the_door() {
    let (site, folder) = (site(), Folder::new());
    let limits = "[limits]\nhead_time = \"1s\"\nconnections_per_address = 5\nheaders = 20\nhead = \"8k\"\n";
    let proxy = Proxy::new(&site, &folder, limits);
    let mut slow: Vec<_> = (0..5).map(|_| connect(proxy.address)).collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: s").unwrap();
    }
    std::thread::sleep(Duration::from_millis(200));
    let began = Instant::now();
    let mut sixth = connect(proxy.address);
    let mut answer = String::new();
    sixth.read_to_string(&mut answer).ok();
    assert!(answer.starts_with("HTTP/1.1 503"), "one too many: {answer}");
    for stream in &mut slow {
        stream.write_all(b"i").ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let many: String = (0..40).map(|i| format!("x{i}: 1\r\n")).collect();
    let long = "x".repeat(20_000);
    for headers in [many, format!("x: {long}\r\n")] {
        let answer = raw(
            &proxy,
            format!("GET / HTTP/1.1\r\nHost: site\r\n{headers}\r\n").as_bytes(),
        );
        assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    assert_eq!(proxy.browser("one").get("/", "").status, 200);
    assert_eq!(proxy.metric("netnice_prefetch_turned_away_total"), 1.0);
}

#[test]
fn a_site_that_is_away_is_a_502() {
    let folder = Folder::new();
    let site = Site {
        address: "127.0.0.1:1".parse().unwrap(),
        seen: Default::default(),
    };
    let proxy = Proxy::new(&site, &folder, "");
    assert_eq!(proxy.browser("one").get("/", "").status, 502);
}

#[test]
fn every_request_is_logged() {
    let (site, folder) = (site(), Folder::new());
    let log = folder.0.join("access.log");
    let proxy = Proxy::new(&site, &folder, &format!("access_log = \"{}\"\n", log.display()));
    let mut browser = proxy.browser("one");
    browser.get("/a", "");
    browser.get("/b", "");
    std::thread::sleep(Duration::from_millis(1500));
    let text = std::fs::read_to_string(log).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[0]["url"], &lines[0]["status"], &lines[0]["bytes"]),
        (&"/a".into(), &200.into(), &6.into())
    );
}

#[test]
fn what_was_asked_just_before_the_end_is_logged() {
    // Without the last flush every third log lacked its end.
    for _ in 0..20 {
        let (site, folder) = (site(), Folder::new());
        let log = folder.0.join("access.log");
        let settings = format!("access_log = \"{}\"\n", log.display());
        let proxy = Proxy::new(&site, &folder, &settings);
        let mut browser = proxy.browser("one");
        for _ in 0..20 {
            browser.get("/a", "");
        }
        proxy.end();
        assert_eq!(std::fs::read_to_string(log).unwrap().lines().count(), 20);
    }
}
