// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Prefetches: answered, refused in time, and counted.

use std::time::{Duration, Instant};

use crate::harness::{file, header, page, teach, Answer, Folder, Proxy, Site};

/// A background that every kernel has, so that the aggressive preset holds.
const ANY: &str = "[prefetch]\nbackground = [\"reno\"]\n";

fn site() -> Site {
    Site::new(|path| match path {
        "/large" => file(2 << 20),
        "/slow" | "/slow2" | "/slow3" => Answer {
            after: Duration::from_millis(700),
            ..page("late")
        },
        "/missing" => Answer {
            status: "404 Not Found",
            ..page("")
        },
        "/private" => Answer {
            headers: "Content-Type: text/html\r\nCache-Control: private\r\n".into(),
            ..page("")
        },
        _ => page("a page"),
    })
}

#[test]
fn a_prefetch_is_the_page_itself() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, ANY);
    let reply = proxy
        .browser("one")
        .get("/a", "Sec-Purpose: prefetch;anonymous-client-ip\r\n");
    assert_eq!((reply.status, reply.text().as_str()), (200, "a page"));
    assert_eq!(header(&reply.head, "cache-control"), Some("max-age=600"));
    assert!(site.requests()[0].contains("sec-purpose: prefetch"));
}

#[test]
fn what_would_be_of_no_use_is_refused_before_a_byte() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, ANY);
    let mut browser = proxy.browser("one");
    for path in ["/large", "/missing", "/private"] {
        let reply = browser.prefetch(path);
        assert_eq!(reply.status, 503, "{path}");
        assert_eq!(header(&reply.head, "cache-control"), Some("no-store"));
    }
    let saving = browser.get("/a", "Sec-Purpose: prefetch\r\nSave-Data: on\r\n");
    assert_eq!(saving.status, 503);
    assert_eq!(proxy.metric("netnice_prefetch_refused_total{reason=\"SaveData\"}"), 1.0);
    assert_eq!(browser.get("/large", "").body.len(), 2 << 20, "demanded it is sent");
}

#[test]
fn what_has_arrived_is_not_under_way() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, ANY);
    let mut browser = proxy.browser("one");
    for number in 0..20 {
        let reply = browser.prefetch(&format!("/{number}"));
        assert_eq!(reply.status, 200, "prefetch {number}, one after the other");
    }
}

#[test]
fn a_client_has_few_under_way() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, &format!("{ANY}outstanding = 2\n"));
    let mut browsers: Vec<_> = (0..3).map(|_| proxy.browser("one")).collect();
    for (browser, path) in browsers.iter_mut().zip(["/slow", "/slow2"]) {
        browser.send(path, "Sec-Purpose: prefetch\r\n");
    }
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(browsers[2].prefetch("/a").status, 503);
    assert_eq!(proxy.browser("another").prefetch("/a").status, 200);
    assert_eq!(browsers[0].receive().status, 200);
    assert_eq!(browsers[1].receive().status, 200);
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(browsers[2].prefetch("/a").status, 200, "they have arrived");
}

#[test]
fn while_many_wait_none_is_prefetched() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, &format!("{ANY}busy = 1\n"));
    let mut waiting = proxy.browser("one");
    waiting.send("/slow", "");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(proxy.browser("two").prefetch("/a").status, 503);
    assert_eq!(waiting.receive().status, 200);
    assert_eq!(proxy.browser("two").prefetch("/a").status, 200);
}

#[test]
fn without_a_background_the_client_must_be_idle_for_a_second() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "[prefetch]\nbackground = [\"none-such\"]\n");
    let mut browser = proxy.browser("one");
    browser.get("/", "");
    let began = Instant::now();
    assert_eq!(browser.prefetch("/a").status, 200);
    assert!(began.elapsed() > Duration::from_millis(900), "{:?}", began.elapsed());
}

#[test]
fn use_and_waste_are_counted() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, ANY);
    let mut browser = proxy.browser("one");
    browser.get("/", "");
    browser.prefetch("/a");
    browser.prefetch("/b");
    std::thread::sleep(Duration::from_millis(300));
    // The user is on /a, which no request said; /b the browser asks for again.
    browser.get("/c", "Referer: http://site/a\r\n");
    browser.get("/b", "");
    assert_eq!(proxy.metric("netnice_prefetch_used_total"), 1.0);
    assert_eq!(proxy.metric("netnice_prefetch_prefetched_bytes_total"), 12.0);
    assert_eq!(proxy.metric("netnice_prefetch_wasted_bytes_total"), 6.0);
}

#[test]
fn what_the_user_waits_for_is_promoted() {
    let (site, folder) = (
        Site::new(|path| if path == "/b" { file(900_000) } else { page("a page") }),
        Folder::new(),
    );
    let proxy = Proxy::new(&site, &folder, ANY);
    let mut slow = proxy.browser("one");
    // It does not read: most of the reply stays with the proxy.
    slow.send("/b", "Sec-Purpose: prefetch\r\n");
    std::thread::sleep(Duration::from_millis(300));
    proxy.browser("one").get("/c", "Referer: http://site/b\r\n");
    assert_eq!(proxy.metric("netnice_prefetch_promotions_total"), 1.0);
    assert_eq!(slow.receive().body.len(), 900_000);
}

#[test]
fn late_ones_are_promoted_by_themselves() {
    let (site, folder) = (Site::new(|_| file(900_000)), Folder::new());
    let proxy = Proxy::new(&site, &folder, &format!("{ANY}deadline = \"500ms\"\n"));
    let mut slow = proxy.browser("one");
    slow.send("/b", "Sec-Purpose: prefetch\r\n");
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(proxy.metric("netnice_prefetch_promotions_total"), 1.0);
    assert_eq!(slow.receive().body.len(), 900_000);
}

#[test]
fn a_crash_loses_seconds_an_end_nothing() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, ANY);
    teach(&proxy, &["/a"]);
    std::thread::sleep(Duration::from_secs(4));
    drop(proxy);
    let proxy = Proxy::new(&site, &folder, ANY);
    assert_eq!(proxy.browser("three").get("/", "").hints(), ["/a"]);
    teach(&proxy, &["/b"]);
    proxy.end();
    let proxy = Proxy::new(&site, &folder, ANY);
    let mut told = proxy.browser("four").get("/", "").hints();
    told.sort();
    assert_eq!(told, ["/a", "/b"]);
}
