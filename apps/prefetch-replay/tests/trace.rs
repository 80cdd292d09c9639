// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What becomes of a log: visits, pages with what they embed, and times to think.

use std::time::Duration;

use netnice_replay::trace::{Trace, View, Visit};

fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

fn view(page: &str, embedded: &[&str], think: u64) -> View {
    View {
        page: page.into(),
        embedded: embedded.iter().map(|&e| e.into()).collect(),
        think: seconds(think),
    }
}

fn visit(begins: u64, views: &[View]) -> Visit {
    Visit {
        begins: seconds(begins),
        views: views.to_vec(),
    }
}

fn read(log: &str) -> Trace {
    Trace::read(log.as_bytes()).expect("memory")
}

#[test]
fn requests_become_pages_and_visits() {
    let trace = read(
        "a - - [30/Jan/2001:10:00:00 +0000] \"GET / HTTP/1.0\" 200 9\n\
         a - - [30/Jan/2001:10:00:01 +0000] \"GET /logo.gif HTTP/1.0\" 304 -\n\
         b - - [30/Jan/2001:10:00:02 +0000] \"GET /only.png HTTP/1.0\" 200 9\n\
         a - - [30/Jan/2001:10:00:20 +0000] \"GET /next HTTP/1.0\" 200 9\n\
         a - - [30/Jan/2001:10:30:20 +0000] \"GET /later HTTP/1.0\" 200 9\n",
    );
    assert_eq!((trace.requests, trace.skipped), (5, 0));
    let of_a = [
        visit(0, &[view("/", &["/logo.gif"], 20), view("/next", &[], 0)]),
        visit(1820, &[view("/later", &[], 0)]),
    ];
    assert_eq!(trace.clients[0], of_a);
    assert_eq!(trace.clients[1], [visit(2, &[view("/only.png", &[], 0)])]);
}

#[test]
fn what_cannot_be_played_is_left_out() {
    let trace = read(
        "a - - [30/Jan/2001:10:00:00 +0000] \"POST /form HTTP/1.0\" 200 9\n\
         a - - [30/Jan/2001:10:00:00 +0000] \"GET /missing HTTP/1.0\" 404 9\n\
         a - ann [30/Jan/2001:10:00:00 +0000] \"GET /mine HTTP/1.0\" 200 9\n\
         a - - [30/Jan/2001:10:00:00 +0000] \"GET /part HTTP/1.0\" 206 9\n\
         nonsense \u{fffd}\n\
         a - - [30/Jan/2001:10:00:00 +0000] \"GET /all HTTP/1.0\" 200 9\n",
    );
    assert_eq!((trace.requests, trace.skipped), (1, 5));
    assert_eq!(trace.clients[0], [visit(0, &[view("/all", &[], 0)])]);
}

#[test]
fn a_log_need_not_be_sorted_and_may_be_squids() {
    let trace = read(
        "980888137.000 9 192.0.2.1 TCP_MISS/200 80 GET http://cnn.com/b - DIRECT/cnn.com text/html\n\
         980888136.500 9 192.0.2.1 TCP_HIT/200 90 GET http://cnn.com/a - NONE/- text/html\n",
    );
    let mut first = view("http://cnn.com/a", &[], 0);
    first.think = Duration::from_millis(500);
    assert_eq!(
        trace.clients[0],
        [visit(0, &[first, view("http://cnn.com/b", &[], 0)])]
    );
}

#[test]
fn clients_are_dealt_with_all_their_visits() {
    let line = |client: &str, minute: u32| {
        format!("{client} - - [30/Jan/2001:10:{minute:02}:00 +0000] \"GET /{client}{minute} HTTP/1.0\" 200 9\n")
    };
    let log = [line("a", 0), line("b", 1), line("c", 2), line("a", 40)].concat();
    let dealt = read(&log).deal(2);
    let pages = |visits: &Vec<Visit>| -> Vec<String> {
        visits.iter().map(|v| v.views[0].page.clone()).collect()
    };
    assert_eq!(
        dealt.iter().map(pages).collect::<Vec<_>>(),
        [vec!["/a0", "/c2", "/a40"], vec!["/b1"]]
    );
}
