// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Which hints each browser gets, and which hints no browser gets.

use crate::harness::{file, page, run, teach, Answer, Folder, Proxy, Site};

const TWO: &str = "[prefetch]\nclients = 2\n";
/// A background that every kernel has, so that the aggressive preset holds whether netnice is up or not.
const ANY: &str = "[prefetch]\nbackground = [\"reno\"]\n";

fn site() -> Site {
    Site::new(|path| match path {
        "/private" => with("Cache-Control: private, max-age=600\r\n"),
        "/no-store" => with("Cache-Control: no-store\r\n"),
        "/login" => with("Cache-Control: max-age=600\r\nSet-Cookie: session=1\r\n"),
        "/stale" => with("Cache-Control: no-cache\r\n"),
        "/public" => with("Cache-Control: public, max-age=600\r\n"),
        "/a.png" => file(1000),
        _ => page("<html><head><title>a page</title></head><body>b</body></html>"),
    })
}

fn with(headers: &str) -> Answer {
    Answer {
        headers: format!("Content-Type: text/html\r\n{headers}"),
        ..page("x")
    }
}

#[test]
fn what_two_clients_asked_for_next_is_told_to_the_third() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, TWO);
    let mut one = proxy.browser("one");
    one.get("/", "");
    assert_eq!(one.get("/next", "").status, 200);
    assert_eq!(proxy.browser("three").get("/", "").hints(), [] as [&str; 0]);
    let mut two = proxy.browser("two");
    two.get("/", "");
    two.get("/next", "");
    let mut four = proxy.browser("four");
    let reply = four.get("/", "");
    assert_eq!(reply.hints(), ["/next"]);
    assert_eq!(four.get("/", "").hints(), [] as [&str; 0], "told once");
    assert_eq!(four.prefetch("/next").status, 200);
    assert_eq!(proxy.metric("netnice_prefetch_hints_total"), 1.0);
}

#[test]
fn nobody_is_told_of_what_is_personal_or_of_no_use() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, ANY);
    teach(&proxy, &["/private", "/no-store", "/login", "/stale", "/next"]);
    let mut with_cookie = proxy.browser("five");
    for name in ["five", "six"] {
        let mut browser = proxy.browser(name);
        browser.get("/", "");
        browser.get("/account", "Cookie: session=1\r\n");
        browser.get("/inbox", "Authorization: Basic eDp5\r\n");
        browser.get("/public", "Cookie: session=1\r\n");
    }
    let told = proxy.browser("seven").get("/", "").hints();
    assert_eq!(told, ["/next"]);
    assert_eq!(with_cookie.get("/", "Save-Data: on\r\n").hints(), [] as [&str; 0]);
}

#[test]
fn who_queues_prefetches_is_told_all_each_time() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, &format!("{ANY}hints = 20\n"));
    teach(&proxy, &["/a", "/b", "/c", "/d", "/e"]);
    let mut browser = proxy.browser("three");
    for _ in 0..2 {
        assert_eq!(browser.get("/", "").hints().len(), 5);
    }
}

#[test]
fn harmless_cookies_name_nobody() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, &format!("{TWO}harmless_cookies = [\"_ga*\"]\n"));
    for name in ["one", "two"] {
        let mut browser = proxy.browser(name);
        browser.get("/", "Cookie: _ga=1; _ga_x=2\r\n");
        browser.get("/next", "Cookie: _ga=1\r\n");
        browser.get("/mine", "Cookie: _ga=1; id=2\r\n");
    }
    assert_eq!(proxy.browser("three").get("/", "").hints(), ["/next"]);
}

#[test]
fn a_page_is_rewritten_where_wanted() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "[prefetch]\nmode = \"rewrite\"\n");
    teach(&proxy, &["/next"]);
    let mut browser = proxy.browser("three");
    let reply = browser.get("/", "Accept-Encoding: gzip\r\n");
    assert_eq!(reply.hints(), [] as [&str; 0]);
    let text = reply.text();
    let script = "<script src=\"/.well-known/netnice-prefetch/click.js\" async></script>";
    let link = "<link rel=\"prefetch\" href=\"/next\" data-netnice>";
    assert_eq!(
        text,
        format!("<html><head>{link}{script}<title>a page</title></head><body>b</body></html>")
    );
    let script = browser.get("/.well-known/netnice-prefetch/click.js", "");
    assert!(script.text().contains("data-netnice"));
    assert!(script.text().contains("pointerdown"), "a click is too late");
}

#[test]
fn rules_name_this_site_only() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "");
    let rules = "/.well-known/netnice-prefetch/rules.json?/a%26b&//evil.example/&https://evil.example/&/c";
    let text = proxy.browser("one").get(rules, "").text();
    assert_eq!(
        text,
        r#"{"prefetch":[{"eagerness":"immediate","source":"list","urls":["/a&b","/c"]}]}"#
    );
}

#[test]
fn off_is_a_plain_proxy() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "[prefetch]\nmode = \"off\"\n");
    teach(&proxy, &["/next"]);
    assert_eq!(proxy.browser("three").get("/", "").hints(), [] as [&str; 0]);
    assert!(!folder.0.join("learned.redb").exists());
}

#[test]
fn a_log_teaches_and_explains() {
    let folder = Folder::new();
    let line =
        |client: &str, path: &str| format!("{client} - - [30/Jan/2001:13:55:36 +0000] \"GET {path} HTTP/1.1\" 200 9\n");
    let text: String = ["192.0.2.1", "192.0.2.2"]
        .iter()
        .flat_map(|c| [line(c, "/"), line(c, "/next"), line(c, "/a.png")])
        .collect();
    let log = folder.file("access.log", &text);
    let store = folder.0.join("learned.redb");
    let (log, store) = (log.to_str().unwrap(), store.to_str().unwrap());
    let trained = run(&["train", log, "--store", store]);
    assert!(trained.status.success(), "{trained:?}");
    assert!(String::from_utf8_lossy(&trained.stdout).starts_with("6 lines read, 6 requests learned"));
    let explain =
        |words: &[&str]| String::from_utf8(run(&[&["explain", "--store", store], words].concat()).stdout).unwrap();
    let unseen = explain(&["/next"]);
    assert!(
        unseen.contains("not told: no reply to a request without cookies"),
        "{unseen}"
    );
    let trusting = format!("{TWO}trust_logs = true\n");
    let file = folder.file("trusting.toml", &trusting);
    let said = |url| explain(&[url, "--config", file.to_str().unwrap()]);
    assert!(
        said("/next").starts_with("after /: 2 of 2 times (100 %), told\n"),
        "{}",
        said("/next")
    );
    assert!(said("/").contains("on / browsers are told /next"), "{}", said("/"));
    assert!(said("/none").starts_with("/none was not seen"), "{}", said("/none"));
    let site = site();
    let proxy = Proxy::new(&site, &folder, &trusting);
    assert_eq!(proxy.browser("three").get("/", "").hints(), ["/next", "/a.png"]);
    let busy = run(&["train", log, "--store", store]);
    assert!(
        String::from_utf8_lossy(&busy.stderr).contains("another netnice-prefetch"),
        "{busy:?}"
    );
}
