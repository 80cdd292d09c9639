// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Connections that became WebSockets: passed, counted as any other, closed when idle. Other protocols do not pass.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::harness::{connect, header, Browser, Folder, Proxy, Site};

const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: WebSocket\r\n";

/// A site that grants each upgrade and sends back all it gets; it also grants one at `/eager` that was not asked for.
fn site() -> Site {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let notes = notes.clone();
            std::thread::spawn(move || echo(stream, &notes));
        }
    });
    Site { address, seen }
}

fn echo(mut stream: TcpStream, seen: &Mutex<Vec<String>>) {
    let mut bytes = [0; 4096];
    let n = stream.read(&mut bytes).unwrap_or(0);
    let head = String::from_utf8_lossy(&bytes[..n]).into_owned();
    let asked = header(&head, "upgrade")
        .map(str::to_owned)
        .or(head.contains("/eager").then(|| "h2c".into()));
    seen.lock().expect("no panic").push(head);
    let Some(protocol) = asked else {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nplain")
            .ok();
        return;
    };
    let reply = format!("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: {protocol}\r\n\r\n");
    stream.write_all(reply.as_bytes()).ok();
    let mut copy = stream.try_clone().expect("a descriptor");
    std::io::copy(&mut copy, &mut stream).ok();
}

fn upgraded(proxy: &Proxy) -> Browser {
    let mut browser = proxy.browser("one");
    assert_eq!(browser.get("/chat", UPGRADE).status, 101);
    assert!(is_open(&mut browser));
    browser
}

fn is_open(browser: &mut Browser) -> bool {
    let mut echo = [0; 5];
    browser.stream.write_all(b"hello").is_ok() && browser.stream.read_exact(&mut echo).is_ok() && &echo == b"hello"
}

/// The status that a fresh connection's request gets.
fn status(proxy: &Proxy) -> u16 {
    proxy.browser("one").get("/", "Connection: close\r\n").status
}

fn soon(mut holds: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(5) {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn an_upgraded_connection_takes_a_place_until_it_ends() {
    for limits in ["connections_per_address = 3", "connections = 3"] {
        let (site, folder) = (site(), Folder::new());
        let proxy = Proxy::new(&site, &folder, &format!("[limits]\n{limits}\n"));
        let mut open: Vec<_> = (0..3).map(|_| upgraded(&proxy)).collect();
        assert_eq!(status(&proxy), 503, "{limits}");
        assert!(open.iter_mut().all(is_open));
        assert_eq!(proxy.metric("netnice_prefetch_connections"), 3.0);
        assert_eq!(proxy.metric("netnice_prefetch_turned_away_total"), 1.0);
        open.pop();
        assert!(soon(|| status(&proxy) == 200), "{limits}: the place is not free again");
        drop(open);
        assert!(soon(|| proxy.metric("netnice_prefetch_connections") == 0.0));
    }
}

#[test]
fn an_idle_one_is_closed() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "[limits]\nwebsocket_idle = \"400ms\"\n");
    let mut browser = upgraded(&proxy);
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(150));
        assert!(is_open(&mut browser), "it is not idle");
    }
    let began = Instant::now();
    assert_eq!(browser.stream.read(&mut [0; 1]).unwrap_or(0), 0);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert!(soon(|| proxy.metric("netnice_prefetch_connections") == 0.0));
}

#[test]
fn no_other_protocol_passes() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "");
    for named in ["h2c", "h2c, foo", "websocket2", "TLS/1.0"] {
        let headers =
            format!("Connection: Upgrade\r\nConnection: HTTP2-Settings\r\nHTTP2-Settings: x\r\nUpgrade: {named}\r\n");
        let reply = proxy.browser("one").get("/", &headers);
        assert_eq!((reply.status, reply.text().as_str()), (200, "plain"), "{named}");
    }
    for head in site.requests() {
        assert_eq!(
            (header(&head, "upgrade"), header(&head, "http2-settings")),
            (None, None),
            "{head}"
        );
    }
    for headers in ["", UPGRADE] {
        assert_eq!(
            proxy.browser("one").get("/eager", headers).status,
            if headers.is_empty() { 502 } else { 101 }
        );
    }
}

#[test]
fn one_of_several_protocols_may_be_websocket() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "");
    let reply = proxy
        .browser("one")
        .get("/", "Connection: Upgrade\r\nUpgrade: h2c, websocket\r\n");
    assert_eq!(reply.status, 101);
    assert_eq!(header(&site.requests()[0], "upgrade"), Some("websocket"));
}

#[test]
fn a_connection_too_many_is_answered() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "[limits]\nconnections = 1\n");
    let _first = upgraded(&proxy);
    let mut answer = String::new();
    connect(proxy.address).read_to_string(&mut answer).ok();
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("Connection: close"), "{answer}");
}
