// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A prefetch never acts for a user: only URLs with public replies are hinted, and a prefetch carries no cookies.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use crate::harness::{address_of, header, page, run, teach, Answer, Folder, Proxy, Site, ENOUGH};

const ANY: &str = "[prefetch]\nbackground = [\"reno\"]\n";
const USER: &str = "Cookie: session=1\r\nAuthorization: Basic eDp5\r\n";

fn with(headers: &str) -> Answer {
    Answer {
        headers: format!("Content-Type: text/html\r\n{headers}"),
        ..page("x")
    }
}

fn site() -> Site {
    Site::new(|path| match path {
        "/public" => with("Cache-Control: public, max-age=600\r\n"),
        "/varies" => with("Cache-Control: max-age=600\r\nVary: Accept, Cookie\r\n"),
        _ => page("a page"),
    })
}

/// Enough clients go from `/` to each of `next`.
fn train(folder: &Folder, next: &[&str]) {
    let mut text = String::new();
    for number in 0..ENOUGH {
        let client = address_of(&format!("reader {number}"));
        for path in next.iter().flat_map(|next| ["/", next]) {
            text += &format!("{client} - - [30/Jan/2001:13:55:36 +0000] \"GET {path} HTTP/1.1\" 200 9\n");
        }
    }
    let (log, store) = (folder.file("access.log", &text), folder.0.join("learned.redb"));
    let trained = run(&["train", log.to_str().unwrap(), "--store", store.to_str().unwrap()]);
    assert!(trained.status.success(), "{trained:?}");
}

fn told(proxy: &Proxy, name: &str) -> Vec<String> {
    let mut told = proxy.browser(name).get("/", "").hints();
    told.sort();
    told
}

#[test]
fn a_url_of_a_log_alone_is_not_told() {
    let (site, folder) = (site(), Folder::new());
    train(&folder, &["/logout", "/news"]);
    let proxy = Proxy::new(&site, &folder, ANY);
    assert_eq!(told(&proxy, "one"), [] as [&str; 0]);
    proxy.browser("two").get("/news", "");
    proxy.browser("three").get("/logout", USER);
    assert_eq!(told(&proxy, "four"), ["/news"], "its reply was seen");
    proxy.end();
    let proxy = Proxy::new(&site, &folder, ANY);
    assert_eq!(told(&proxy, "five"), ["/news"], "that is kept");
    assert_eq!(site.requests().iter().filter(|r| r.contains("/logout")).count(), 1);
}

#[test]
fn the_owner_may_trust_a_log() {
    let (site, folder) = (site(), Folder::new());
    train(&folder, &["/a", "/b", "/c?d=1"]);
    let proxy = Proxy::new(&site, &folder, &format!("{ANY}trust_logs = true\n"));
    assert_eq!(told(&proxy, "one"), ["/a", "/b"]);
}

#[test]
fn a_prefetch_carries_no_credentials() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, ANY);
    let mut browser = proxy.browser("one");
    let prefetch = format!("Sec-Purpose: prefetch\r\n{USER}");
    assert_eq!(browser.get("/public", &prefetch).status, 200);
    assert_eq!(browser.get("/a", &prefetch).status, 503, "it may differ for a user");
    assert_eq!(browser.get("/varies", &prefetch).status, 503);
    let seen = site.requests();
    assert_eq!(seen.len(), 3);
    for head in &seen {
        assert_eq!(
            (header(head, "cookie"), header(head, "authorization")),
            (None, None),
            "{head}"
        );
    }
    browser.get("/a", USER);
    assert_eq!(
        header(&site.requests()[3], "cookie"),
        Some("session=1"),
        "demanded it is"
    );
}

#[test]
fn a_reply_to_a_user_does_not_vouch_for_a_url() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, ANY);
    for number in 0..ENOUGH {
        let mut browser = proxy.browser(&format!("user {number}"));
        for path in ["/", "/public", "/", "/varies"] {
            browser.get(path, USER);
            browser.get("/", "");
        }
    }
    assert_eq!(told(&proxy, "one"), [] as [&str; 0]);
    for path in ["/public", "/varies"] {
        proxy.browser("two").get(path, "");
    }
    assert_eq!(told(&proxy, "three"), ["/public"]);
}

/// A site whose `/next` answers with one of several heads.
fn changing(heads: [&'static str; 4]) -> (Site, Arc<AtomicUsize>) {
    let now = Arc::new(AtomicUsize::new(0));
    let chosen = now.clone();
    let site = Site::new(move |path| match path {
        "/next" => with(heads[chosen.load(Ordering::Relaxed)]),
        _ => page("a page"),
    });
    (site, now)
}

#[test]
fn a_url_whose_reply_is_no_longer_for_everybody_is_withdrawn() {
    let fresh = "Cache-Control: max-age=600\r\n";
    let heads = [
        fresh,
        "Cache-Control: private, max-age=600\r\n",
        "Cache-Control: no-cache\r\n",
        "Set-Cookie: a=1\r\n",
    ];
    let ((site, now), folder) = (changing(heads), Folder::new());
    let proxy = Proxy::new(&site, &folder, ANY);
    teach(&proxy, &["/next"]);
    assert_eq!(told(&proxy, "one"), ["/next"]);
    for (number, head) in heads.iter().enumerate().skip(1) {
        for request in ["", USER, "Sec-Purpose: prefetch\r\n"] {
            now.store(number, Ordering::Relaxed);
            proxy.browser("two").get("/next", request);
            let name = format!("{number} {request:?}");
            assert_eq!(told(&proxy, &name), [] as [&str; 0], "{head} to {request:?}");
            now.store(0, Ordering::Relaxed);
            proxy.browser("two").get("/next", "");
            assert_eq!(told(&proxy, &format!("{name} again")), ["/next"]);
        }
    }
    now.store(1, Ordering::Relaxed);
    proxy.browser("two").get("/next", "");
    proxy.end();
    let proxy = Proxy::new(&site, &folder, ANY);
    assert_eq!(told(&proxy, "after a restart"), [] as [&str; 0]);
}

#[test]
fn a_url_with_a_query_is_told_where_the_owner_names_it() {
    let paths = ["/list?page=2", "/list?token=1"];
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, ANY);
    teach(&proxy, &paths);
    assert_eq!(told(&proxy, "one"), [] as [&str; 0]);
    let (site, folder) = (self::site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, &format!("{ANY}queries = [\"/list?page=*\"]\n"));
    teach(&proxy, &paths);
    assert_eq!(told(&proxy, "one"), ["/list?page=2"]);
}
