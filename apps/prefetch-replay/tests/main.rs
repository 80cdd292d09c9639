// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Browsers from a log: what is read of one, and that the made-up one is as netnice-replay-generate(1) says. What is
//! played of it is in a file of its own.

mod play;

use std::collections::{HashMap, HashSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use netnice_prefetch_predictor::log::{is_page, Reader};
use netnice_prefetch_predictor::{Params, Predictor, Request};
use netnice_replay::generate::{self, line, requests, Asked, Pace, Site};
use netnice_replay::trace::{Trace, View, Visit};
use proptest::prelude::*;

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
    assert_eq!(trace.clients[0], [visit(0, &[first, view("http://cnn.com/b", &[], 0)])]);
}

#[test]
fn clients_are_dealt_with_all_their_visits() {
    let line = |client: &str, minute: u32| {
        format!("{client} - - [30/Jan/2001:10:{minute:02}:00 +0000] \"GET /{client}{minute} HTTP/1.0\" 200 9\n")
    };
    let log = [line("a", 0), line("b", 1), line("c", 2), line("a", 40)].concat();
    let dealt = read(&log).deal(2);
    let pages = |visits: &Vec<Visit>| -> Vec<String> { visits.iter().map(|v| v.views[0].page.clone()).collect() };
    assert_eq!(
        dealt.iter().map(pages).collect::<Vec<_>>(),
        [vec!["/a0", "/c2", "/a40"], vec!["/b1"]]
    );
}

const PACE: Pace = Pace {
    every: Duration::from_secs(1),
    think: Duration::from_secs(10),
};

fn log(asked: &[Asked]) -> String {
    asked.iter().fold(String::new(), |mut text, asked| {
        line(&mut text, asked);
        text
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn close(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() < share, "{found}, not about {expected}");
}

#[test]
fn sizes_and_images() {
    let site = Site::new(20_000, 8, 7);
    let sizes =
        |documents: Vec<&generate::Document>| -> Vec<f64> { documents.iter().map(|d| d.bytes as f64).collect() };
    let pages = sizes(site.pages.iter().map(|p| &p.document).collect());
    close(median(pages.clone()), generate::PAGE_MEDIAN, 0.03);
    // One in six is above a sigma.
    let above = generate::PAGE_MEDIAN * generate::PAGE_SIGMA.exp();
    let share = pages.iter().filter(|b| **b > above).count() as f64 / pages.len() as f64;
    close(share, 0.1587, 0.05);
    let images = sizes(site.pages.iter().flat_map(|p| &p.images).collect());
    close(images.len() as f64 / pages.len() as f64, generate::IMAGES, 0.03);
    // Of a bounded Pareto distribution.
    let norm = 1.0 - (generate::IMAGE_LEAST / generate::LARGEST).powf(generate::IMAGE_ALPHA);
    let expected = generate::IMAGE_LEAST / (1.0 - 0.5 * norm).powf(1.0 / generate::IMAGE_ALPHA);
    close(median(images.clone()), expected, 0.03);
    let bounds = generate::IMAGE_LEAST..=generate::LARGEST;
    assert!(images.iter().all(|b| bounds.contains(b)));
}

#[test]
fn beginnings_are_as_popular_as_their_rank_says() {
    let site = Site::new(200, 8, 1);
    let asked = requests(&site, 20_000, PACE, 1);
    let mut visits = HashSet::new();
    let mut count: HashMap<&str, f64> = HashMap::new();
    for a in asked.iter().filter(|a| visits.insert(a.visit)) {
        *count.entry(&a.document.url).or_default() += 1.0;
    }
    let weight = |rank: f64| rank.powf(-generate::POPULARITY);
    let all: f64 = (1..=200).map(|r| weight(f64::from(r))).sum();
    for rank in [1, 2, 5, 20] {
        let found = count[format!("/page{}.html", rank - 1).as_str()];
        close(found / 20_000.0, weight(f64::from(rank)) / all, 0.15);
    }
}

#[test]
fn visits_are_as_long_and_as_slow_as_documented() {
    // Pages enough that few are seen twice.
    let site = Site::new(50_000, 8, 1);
    let asked = requests(&site, 5000, PACE, 3);
    let last = asked.iter().map(|a| a.visit).max().expect("visits");
    assert_eq!(last, 4999);
    let begin = |visit| asked.iter().find(|a| a.visit == visit).expect("a page").at;
    close(begin(4999).as_secs_f64() / 4999.0, 1.0, 0.05);
    let trace = Trace::read(log(&asked).as_bytes()).expect("memory");
    assert_eq!((trace.requests, trace.skipped), (asked.len(), 0));
    let visits: Vec<_> = trace.clients.iter().flatten().collect();
    let pages: usize = visits.iter().map(|v| v.views.len()).sum();
    close(pages as f64 / visits.len() as f64, generate::PAGES, 0.05);
    let thinks = visits.iter().flat_map(|v| {
        let views = &v.views[..v.views.len() - 1];
        views.iter().map(|view| view.think.as_secs_f64())
    });
    // With the half second in which images are asked for; the log has whole seconds.
    close(median(thinks.collect()), 10.5, 0.06);
    let images = visits.iter().flat_map(|v| &v.views).map(|v| v.embedded.len());
    close(images.sum::<usize>() as f64 / pages as f64, generate::IMAGES, 0.05);
}

#[test]
fn the_next_page_is_mostly_linked() {
    let site = Site::new(50_000, 8, 1);
    let number: HashMap<&str, usize> = (0..)
        .zip(&site.pages)
        .map(|(n, p)| (p.document.url.as_str(), n))
        .collect();
    let mut last: HashMap<u32, usize> = HashMap::new();
    let (mut linked, mut first, mut all) = (0.0, 0.0, 0.0);
    for a in requests(&site, 5000, PACE, 5) {
        let Some(&page) = number.get(a.document.url.as_str()) else {
            continue;
        };
        if let Some(before) = last.insert(a.visit, page) {
            let links = &site.pages[before].links;
            all += 1.0;
            linked += f64::from(links.contains(&page));
            first += f64::from(links[0] == page);
        }
    }
    close(linked / all, generate::FOLLOWS, 0.02);
    let weights: f64 = (1..=8).map(|k| f64::from(k).powf(-generate::LINKS)).sum();
    close(first / all, generate::FOLLOWS / weights, 0.05);
}

#[test]
fn one_day_predicts_the_next() {
    let site = Site::new(200, 8, 1);
    let params = Params {
        trust_logs: true,
        ..Params::AGGRESSIVE
    };
    let mut predictor = Predictor::new(params).expect("a preset");
    let (mut told, mut all) = (0, 0);
    for (day, visits, offset) in [(1, 4000, 0), (2, 500, 1 << 32)] {
        let text = log(&requests(&site, visits, PACE, day));
        let mut reader = Reader::default();
        for line in text.lines() {
            let record = reader.line(line).expect("a line");
            let address: Ipv4Addr = record.address.parse().expect("an address");
            let request = Request {
                client: u64::from(address.to_bits()) ^ offset,
                network: Some(address.to_bits().into()),
                url: &record.url,
                page: is_page(&record.url),
                reusable: None,
                at: record.at,
            };
            if day == 2 && request.page {
                let likely = predictor.predict(request.client, 50);
                told += usize::from(likely.iter().any(|p| p.url == request.url));
                all += 1;
            }
            predictor.learn(request);
        }
    }
    // First pages, a sixth, nothing can predict.
    let share = f64::from(told as u32) / f64::from(all);
    assert!(share > 0.5, "only {share} of what comes next was told");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_same_numbers_are_the_same_log(pages in 2usize..60, links in 1usize..80, visits in 1u32..40, seed: u64) {
        let site = Site::new(pages, links, seed);
        prop_assert_eq!(&site, &Site::new(pages, links, seed));
        let all = requests(&site, visits, PACE, seed);
        prop_assert_eq!(&all, &requests(&site, visits, PACE, seed));
        prop_assert!(all.windows(2).all(|w| w[0].at <= w[1].at));
        for (number, page) in site.pages.iter().enumerate() {
            prop_assert!(page.links.len() == links.min(pages - 1) && !page.links.contains(&number));
        }
        let once: HashSet<_> = all.iter().map(|a| (a.visit, &a.document.url)).collect();
        prop_assert_eq!(once.len(), all.len());
        prop_assert_ne!(&site, &Site::new(pages, links, seed ^ 1));
    }

    #[test]
    fn a_longer_log_begins_like_a_shorter_one(visits in 1u32..40, seed: u64) {
        let site = Site::new(30, 4, 1);
        let longer = requests(&site, visits + 5, PACE, seed);
        let shorter = requests(&site, visits, PACE, seed);
        let begins: Vec<_> = longer.into_iter().filter(|a| a.visit < visits).collect();
        prop_assert_eq!(begins, shorter);
    }
}
