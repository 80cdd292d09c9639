// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Thousands of requests that no honest browser sends, beside honest users. Nothing crashes, no user gets another's
//! page, no hint names what strangers planted, and memory stays bounded. NETNICE_HOSTILE_TRIES=100000: the long run.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::harness::{page, teach, Answer, Folder, Proxy, Site};
use fastrand::Rng;
use socket2::SockRef;

const ATTACKERS: u64 = 4;
const MOST_MEMORY: u64 = 200 << 20;

const METHODS: [&str; 6] = ["GET", "POST", "HEAD", "G\0T", "get", "PRI"];
const TARGETS: [&str; 10] = [
    "/",
    "/next",
    "/evil>; rel=preload; as=script",
    "//evil.example/x",
    "http://evil.example/",
    "/evil\"><script>",
    "/../../evil",
    "*",
    "/evil%0d%0aSet-Cookie:%20a=b",
    "/.well-known/netnice-prefetch/rules.json?//evil.example/&javascript:evil",
];
const VERSIONS: [&str; 5] = ["HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9", "ICY"];
const HEADERS: [&str; 24] = [
    "Host: site",
    "Host: evil.example",
    "Host:",
    "Content-Length: 5",
    "Content-Length: -1",
    "Content-Length: 99999999999999999999",
    "Content-Length: 5\r\nContent-Length: 50",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: \tchunked",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding\t: chunked",
    "X-Forwarded-Host: evil.example",
    "X-Forwarded-For: 127.0.0.1",
    "Sec-Purpose: prefetch",
    "Sec-Purpose: prefetch;prerender",
    "Cookie: id=evil",
    "Authorization: Basic evil",
    "Range: bytes=0-0,1-1,2-2,-99999999",
    "Referer: http://site/evil",
    "Connection: Host, Content-Length, close",
    "Upgrade: h2c\r\nConnection: Upgrade",
    "Expect: 100-continue",
    "X: \u{1}",
    " folded: yes",
];
const BODIES: [&str; 6] = [
    "",
    "hello",
    "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: site\r\n\r\n",
    "ffffffffffffffff\r\nx",
    "5;ext=\"\r\nhello\r\n0\r\n\r\n",
    "-1\r\n\r\n",
];

fn request(random: &mut Rng) -> Vec<u8> {
    let mut text = format!(
        "{} {} {}\r\n",
        random.choice(METHODS).unwrap(),
        random.choice(TARGETS).unwrap(),
        random.choice(VERSIONS).unwrap()
    );
    if random.u8(..) > 40 {
        text += "Host: site\r\n";
    }
    for _ in 0..random.usize(..5) {
        text += random.choice(HEADERS).unwrap();
        text += "\r\n";
    }
    if random.u8(..) < 4 {
        text += &format!("x: {}\r\n", "y".repeat(random.usize(..80_000)));
    }
    text += "\r\n";
    text += random.choice(BODIES).unwrap();
    let mut bytes = text.into_bytes();
    for _ in 0..random.usize(..3) {
        let at = random.usize(..bytes.len());
        match random.u8(..4) {
            0 => bytes[at] = random.u8(..),
            1 => bytes.truncate(at + 1),
            2 => bytes.insert(at, random.u8(..)),
            _ => {}
        }
    }
    bytes
}

/// One try; whatever comes back must be a reply for no particular user.
fn attack(proxy: &Proxy, random: &mut Rng) {
    let Ok(mut stream) = TcpStream::connect(proxy.address) else {
        return;
    };
    // Closed by a reset: no port waits for stragglers.
    SockRef::from(&stream).set_linger(Some(Duration::ZERO)).ok();
    stream.set_read_timeout(Some(Duration::from_millis(50))).ok();
    stream.write_all(&request(random)).ok();
    if random.u8(..) < 32 {
        return;
    }
    let mut answer = [0; 4096];
    let n = stream.read(&mut answer).unwrap_or(0);
    let answer = String::from_utf8_lossy(&answer[..n]);
    assert!(n == 0 || answer.starts_with("HTTP/1."), "{answer}");
    assert!(!answer.contains("for honest"), "another's page: {answer}");
    assert!(!answer.to_lowercase().contains("\nset-cookie"), "{answer}");
}

fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find(|l| l.starts_with("VmHWM")).expect("its memory");
    let kilobytes = line.split_whitespace().nth(1).expect("a number");
    kilobytes.parse::<u64>().expect("a number") * 1024
}

/// Its page is its own, whatever others do.
fn live(proxy: &Proxy, name: &str, until: &AtomicBool) -> usize {
    let (mut browser, mut visits) = (proxy.browser(name), 0);
    while !until.load(Ordering::Relaxed) {
        let reply = browser.get(&format!("/account-{name}"), &format!("Cookie: id={name}\r\n"));
        assert_eq!((reply.status, reply.text()), (200, format!("for {name}")));
        let hints = browser.get("/", "").hints();
        assert!(hints.iter().all(|h| h == "/next"), "{hints:?}");
        visits += 1;
        std::thread::sleep(Duration::from_millis(2));
    }
    visits
}

#[test]
fn hostile_requests_harm_nobody() {
    let tries: u64 = std::env::var("NETNICE_HOSTILE_TRIES").map_or(4000, |n| n.parse().expect("a number"));
    let site = Site::new(|path| match path.strip_prefix("/account-") {
        Some(name) => Answer {
            headers: "Content-Type: text/html\r\nCache-Control: private\r\n".into(),
            ..page(&format!("for {name}"))
        },
        None => page("for all"),
    });
    let folder = Folder::new();
    let proxy = Proxy::new(
        &site,
        &folder,
        "[prefetch]\nbackground = [\"reno\"]\n[limits]\nconnections_per_address = 2000\n",
    );
    teach(&proxy, &["/next"]);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let honest = ["honest-a", "honest-b"].map(|name| scope.spawn(|| live(&proxy, name, &over)));
        let attackers: Vec<_> = (0..ATTACKERS)
            .map(|seed| {
                let proxy = &proxy;
                scope.spawn(move || {
                    let mut random = Rng::with_seed(seed);
                    (0..tries / ATTACKERS).for_each(|_| attack(proxy, &mut random));
                })
            })
            .collect();
        let attacked: Vec<_> = attackers.into_iter().map(|a| a.join()).collect();
        over.store(true, Ordering::Relaxed);
        let visits: usize = honest
            .into_iter()
            .map(|h| h.join().expect("an honest user was harmed"))
            .sum();
        assert!(visits > 20, "{visits} visits");
        assert!(attacked.iter().all(Result::is_ok));
    });
    let seen = site.seen.lock().expect("no panic");
    let framed_twice = |head: &&String| {
        crate::harness::header(head, "content-length").is_some()
            && crate::harness::header(head, "transfer-encoding").is_some()
    };
    assert_eq!(seen.iter().find(framed_twice), None);
    let memory = memory(proxy.child.id());
    assert!(memory < MOST_MEMORY, "{memory} bytes");
    println!(
        "{tries} tries, {} requests reached the site, {} MB at most",
        seen.len(),
        memory >> 20
    );
}
