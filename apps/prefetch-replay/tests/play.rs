// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Whole replays, against a server of which every answer is known.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_netnice-replay");

/// A server that answers as it is told, and what it was asked: which connection, path, whether to prefetch.
struct Server {
    url: String,
    seen: Arc<Mutex<Vec<(usize, String, bool)>>>,
}

impl Server {
    /// `answer` gives headers for a path and whether it is a prefetch; bodies have 100 bytes. None: it closes.
    fn new(answer: impl Fn(&str, bool) -> Option<String> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (answer, notes) = (Arc::new(answer), seen.clone());
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let (answer, notes) = (answer.clone(), notes.clone());
                std::thread::spawn(move || converse(stream, number, &*answer, &notes));
            }
        });
        Self { url, seen }
    }

    fn seen(&self) -> Vec<(usize, String, bool)> {
        self.seen.lock().expect("no panic").clone()
    }

    fn play(&self, log: &str, words: &[&str]) -> Value {
        let done = run(
            &[&["play", "-", &self.url, "--json", "--clients", "1"], words].concat(),
            log,
        );
        assert!(done.status.success(), "{done:?}");
        serde_json::from_slice(&done.stdout).expect("JSON")
    }
}

fn converse(
    mut stream: TcpStream,
    number: usize,
    answer: &dyn Fn(&str, bool) -> Option<String>,
    seen: &Mutex<Vec<(usize, String, bool)>>,
) {
    let reader = BufReader::new(stream.try_clone().expect("a descriptor"));
    let (mut path, mut prefetch) = (String::new(), false);
    for line in reader.lines().map_while(Result::ok) {
        if let Some(rest) = line.strip_prefix("GET ") {
            path = rest.split(' ').next().expect("a path").to_owned();
            prefetch = false;
        }
        prefetch |= line == "Sec-Purpose: prefetch";
        if !line.is_empty() {
            continue;
        }
        seen.lock().expect("no panic").push((number, path.clone(), prefetch));
        let Some(headers) = answer(&path, prefetch) else {
            return;
        };
        let body = ".".repeat(100);
        let reply = format!("HTTP/1.1 {headers}Content-Length: 100\r\n\r\n{body}");
        if stream.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

fn run(words: &[&str], input: &str) -> Output {
    let mut child = Command::new(PROGRAM)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    // It may refuse its arguments before it reads.
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).ok();
    child.wait_with_output().expect("its end")
}

/// A log of one client that asks for these, so many seconds after the first.
fn log(asked: &[(u32, &str)]) -> String {
    let line = |(at, url): &(u32, &str)| {
        format!("192.0.2.1 - - [30/Jan/2001:10:00:{at:02} +0000] \"GET {url} HTTP/1.1\" 200 100\n")
    };
    asked.iter().map(line).collect()
}

fn ok(headers: &str) -> Option<String> {
    Some(format!("200 OK\r\n{headers}"))
}

fn from<'a>(report: &'a Value, url: &str) -> Vec<&'a str> {
    let all = report["demanded"].as_array().expect("a list");
    let named = all.iter().filter(|d| d["url"] == url);
    named.map(|d| d["from"].as_str().expect("a word")).collect()
}

#[test]
fn what_is_hinted_is_prefetched_on_another_connection_and_used() {
    let server = Server::new(|path, _| match path {
        "/a" => ok("Link: </b>; rel=prefetch\r\nLink: </b.png>; rel=prefetch, </never>; rel=prefetch\r\n"),
        _ => ok(""),
    });
    let text = log(&[(0, "/a"), (0, "/a.png"), (10, "/b"), (10, "/b.png"), (20, "/a")]);
    let report = server.play(&text, &["--think", "0.03"]);
    assert_eq!(from(&report, "/a"), ["server", "cache"]);
    assert_eq!(from(&report, "/a.png"), ["server"]);
    assert_eq!(from(&report, "/b"), ["prefetch"]);
    assert_eq!(from(&report, "/b.png"), ["prefetch"]);
    assert_eq!(report["prefetched"]["arrived"], 3);
    assert_eq!(report["prefetched"]["bytes"], 300);
    assert_eq!(report["prefetched"]["wasted_bytes"], 100, "/never is never demanded");
    assert_eq!(report["demanded_bytes"], 200);
    let seen = server.seen();
    let lane = |prefetch| seen.iter().find(|s| s.2 == prefetch).expect("one").0;
    assert!(
        seen.iter()
            .all(|(connection, _, prefetch)| *connection == lane(*prefetch)),
        "{seen:?}"
    );
    assert_ne!(lane(true), lane(false));
}

#[test]
fn the_next_pages_hints_replace_those_that_wait() {
    let server = Server::new(|path, _| match path {
        "/a" => ok("Link: </x>; rel=prefetch, </y>; rel=prefetch\r\n"),
        "/b" => ok("Link: </z>; rel=prefetch\r\n"),
        "/x" => {
            std::thread::sleep(Duration::from_millis(1500));
            ok("")
        }
        _ => ok(""),
    });
    // /b comes while /x is under way and /y waits, /c long after.
    server.play(&log(&[(0, "/a"), (10, "/b"), (59, "/c")]), &["--think", "0.04"]);
    let seen = server.seen();
    let prefetched: Vec<&str> = seen.iter().filter(|s| s.2).map(|s| s.1.as_str()).collect();
    assert_eq!(prefetched, ["/x", "/z"]);
}

/// Reads one request. False: none came in time, or the connection has ended.
fn asked(reader: &mut impl BufRead) -> bool {
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
        if line == "\r\n" {
            return true;
        }
        line.clear();
    }
    false
}

const EMPTY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// How many of a page's four images are asked for before the first is answered.
fn images_at_once(words: &[&str]) -> usize {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut reader = BufReader::new(stream.try_clone().expect("a descriptor"));
        assert!(asked(&mut reader), "the page");
        stream.write_all(EMPTY).expect("a client");
        let patience = Some(Duration::from_millis(500));
        stream.set_read_timeout(patience).expect("a socket");
        let at_once = (0..4).take_while(|_| asked(&mut reader)).count();
        stream.set_read_timeout(None).expect("a socket");
        for _ in 0..at_once {
            stream.write_all(EMPTY).expect("a client");
        }
        while asked(&mut reader) {
            stream.write_all(EMPTY).expect("a client");
        }
        at_once
    });
    let page = [(0, "/a"), (0, "/1.png"), (0, "/2.png"), (0, "/3.png"), (0, "/4.png")];
    let done = run(&[&["play", "-", &url, "--no-prefetch"], words].concat(), &log(&page));
    assert!(done.status.success(), "{done:?}");
    server.join().expect("no panic")
}

#[test]
fn a_pages_images_are_asked_for_at_once_or_one_by_one() {
    assert_eq!(images_at_once(&[]), 4);
    assert_eq!(images_at_once(&["--pipeline", "1"]), 1);
}

#[test]
fn without_prefetching_hints_are_ignored() {
    let server = Server::new(|_, _| ok("Link: </b>; rel=prefetch\r\n"));
    let report = server.play(&log(&[(0, "/a"), (10, "/b")]), &["--think", "0.01", "--no-prefetch"]);
    assert_eq!(from(&report, "/b"), ["server"]);
    assert!(server.seen().iter().all(|s| !s.2));
}

#[test]
fn a_prefetch_of_what_is_demanded_is_given_up() {
    let server = Server::new(|path, prefetch| {
        if prefetch {
            std::thread::sleep(Duration::from_secs(3));
        }
        match path {
            "/a" => ok("Link: </b>; rel=prefetch\r\n"),
            _ => ok(""),
        }
    });
    let report = server.play(&log(&[(0, "/a"), (10, "/b"), (20, "/c")]), &["--think", "0.02"]);
    assert_eq!(from(&report, "/b"), ["server"]);
    assert_eq!(report["prefetched"]["given_up"], 1);
    assert!(
        report["requests"]["p95_ms"].as_f64().expect("a number") < 1000.0,
        "{report}"
    );
}

#[test]
fn what_is_refused_or_not_to_be_kept_is_demanded_again() {
    let server = Server::new(|path, prefetch| match (path, prefetch) {
        ("/a", _) => ok("Link: </b>; rel=prefetch, </c>; rel=prefetch\r\n"),
        ("/b", true) => Some("503 Service Unavailable\r\nCache-Control: no-store\r\n".into()),
        _ => ok("Cache-Control: no-store\r\n"),
    });
    let report = server.play(&log(&[(0, "/a"), (10, "/b"), (20, "/c")]), &["--think", "0.02"]);
    assert_eq!(
        (from(&report, "/b"), from(&report, "/c")),
        (vec!["server"], vec!["server"])
    );
    assert_eq!(report["prefetched"]["refused"], 2);
    assert_eq!(report["prefetched"]["wasted_bytes"], 200);
}

#[test]
fn a_connection_that_was_closed_while_idle_is_opened_again() {
    let asked = Arc::new(Mutex::new(0));
    let server = Server::new(move |_, _| {
        let mut asked = asked.lock().expect("no panic");
        *asked += 1;
        // The second request is not answered.
        (*asked != 2).then(|| "200 OK\r\n".into())
    });
    let report = server.play(&log(&[(0, "/a"), (10, "/b")]), &["--think", "0.01"]);
    assert_eq!(from(&report, "/b"), ["server"]);
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn what_has_not_come_in_time_is_counted() {
    let server = Server::new(|_, _| {
        std::thread::sleep(Duration::from_secs(5));
        None
    });
    let report = server.play(&log(&[(0, "/a")]), &["--seconds", "0.5"]);
    assert_eq!(report["unfinished"], 1);
    let waited = report["requests"]["mean_ms"].as_f64().expect("a number");
    assert!((300.0..2000.0).contains(&waited), "{waited}");
}

#[test]
fn errors_say_what_is_wrong() {
    for (words, input, said) in [
        (
            ["play", "-", "http://127.0.0.1:9"].as_slice(),
            log(&[(0, "/a")]),
            "does not answer",
        ),
        (
            &["play", "-", "https://x"],
            log(&[(0, "/a")]),
            "must be http://HOST:PORT",
        ),
        (
            &["play", "-", "http://127.0.0.1:9"],
            "nonsense\n".into(),
            "no request that can be played",
        ),
        (
            &["play", "/nowhere", "http://127.0.0.1:9"],
            String::new(),
            "cannot read the log /nowhere",
        ),
        (&["generate", "--think", "0s"], String::new(), "must be above 0"),
    ] {
        let done = run(words, &input);
        let text = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{words:?}");
        assert!(text.contains(said), "{words:?}: {text}");
    }
}

#[test]
fn a_log_is_its_own_site() {
    let folder = std::env::temp_dir().join(format!("netnice-replay-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let made = run(&["generate", "--visits", "3", "--think", "1ms", "--every", "1ms"], "");
    let log = folder.join("access.log");
    std::fs::write(&log, &made.stdout).expect("a file");
    let log = log.to_str().expect("text");
    let mut site = Command::new(PROGRAM)
        .args(["serve", log, "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut said = String::new();
    let mut lines = BufReader::new(site.stderr.take().expect("a pipe"));
    lines.read_line(&mut said).expect("its address");
    let url = said.trim().rsplit(' ').next().expect("an address");
    let done = run(&["play", log, url, "--json", "--clients", "2"], "");
    site.kill().expect("it runs");
    site.wait().expect("its end");
    std::fs::remove_dir_all(&folder).ok();
    assert!(done.status.success(), "{done:?}");
    let report: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let text = String::from_utf8(made.stdout).expect("text");
    assert_eq!(report["requests"]["count"], text.lines().count());
    assert_eq!(report["errors"], 0);
}
