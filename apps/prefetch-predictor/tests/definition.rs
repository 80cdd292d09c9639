// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Against the paper's sentence, counted the slow way: how often did a URL come between a context and the w-th page
//! after it.

use std::time::Duration;

use netnice_prefetch_predictor::{Params, Predictor, Request};
use proptest::prelude::*;

type Asked = (u8, bool);

fn params(order: usize, window: usize) -> Params {
    Params {
        order,
        window,
        threshold: 0.0,
        ..Params::CONSERVATIVE
    }
}

fn url((number, page): Asked) -> String {
    if page {
        format!("/{number}")
    } else {
        format!("/{number}.png")
    }
}

fn learn(predictor: &mut Predictor, client: u64, asked: &[Asked]) {
    for &(number, page) in asked {
        predictor.learn(Request {
            client,
            network: Some(client),
            url: &url((number, page)),
            page,
            reusable: Some(true),
            at: Duration::ZERO,
        });
    }
}

/// How often the context was seen, and how often `wanted` was asked for in the window after it.
fn counted(asked: &[Asked], context: &[Asked], wanted: Asked, window: usize) -> (u32, u32) {
    let (mut hits, mut count) = (0, 0);
    for (at, end) in asked.iter().enumerate() {
        if !end.1 {
            continue;
        }
        let pages: Vec<Asked> = asked[..=at].iter().copied().filter(|a| a.1).collect();
        if !pages.ends_with(context) {
            continue;
        }
        hits += 1;
        let mut seen = 0;
        for next in &asked[at + 1..] {
            if seen == window {
                break;
            }
            seen += usize::from(next.1);
            if *next == wanted && wanted != *end {
                count += 1;
                break;
            }
        }
    }
    (hits, count)
}

fn stream() -> impl Strategy<Value = Vec<Asked>> {
    prop::collection::vec((0..6u8, prop::bool::weighted(0.6)), 1..60)
}

proptest! {
    #[test]
    fn probabilities_are_those_of_the_definition(asked in stream(), order in 1..4usize, window in 1..6usize) {
        let mut predictor = Predictor::new(params(order, window)).unwrap();
        learn(&mut predictor, 1, &asked);
        let pages: Vec<Asked> = asked.iter().copied().filter(|a| a.1).collect();
        for end in 1..=pages.len() {
            let context = &pages[end.saturating_sub(order)..end];
            let names: Vec<String> = context.iter().copied().map(url).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for p in predictor.predict_after(&names, 100) {
                let number = p.url[1..].trim_end_matches(".png").parse().unwrap();
                let wanted = (number, !p.url.ends_with(".png"));
                let known = &context[context.len() - p.order..];
                let (hits, count) = counted(&asked, known, wanted, window);
                prop_assert_eq!((p.hits, p.count), (hits, count), "{} after {:?}", p.url, known);
            }
        }
    }

    #[test]
    fn nothing_that_followed_is_missed(asked in stream(), window in 1..6usize) {
        let mut predictor = Predictor::new(params(1, window)).unwrap();
        learn(&mut predictor, 1, &asked);
        for page in 0..6u8 {
            let name = url((page, true));
            let found = predictor.predict_after(&[&name], 100);
            for wanted in (0..6u8).flat_map(|n| [(n, true), (n, false)]).filter(|w| *w != (page, true)) {
                let (_, count) = counted(&asked, &[(page, true)], wanted, window);
                let name = url(wanted);
                prop_assert_eq!(found.iter().any(|p| p.url == name), count > 0, "{}", name);
            }
        }
    }

    #[test]
    fn clients_do_not_mix(a in stream(), b in stream()) {
        let mut apart = Predictor::new(params(2, 3)).unwrap();
        let mut mixed = Predictor::new(params(2, 3)).unwrap();
        learn(&mut apart, 1, &a);
        learn(&mut apart, 2, &b);
        for i in 0..a.len().max(b.len()) {
            learn(&mut mixed, 1, a.get(i..=i).unwrap_or_default());
            learn(&mut mixed, 2, b.get(i..=i).unwrap_or_default());
        }
        for page in 0..6u8 {
            let name = url((page, true));
            let sorted = |p: &Predictor| {
                let mut all: Vec<_> = p.predict_after(&[&name], 100).iter().map(|p| (p.url.to_owned(), p.count, p.hits)).collect();
                all.sort();
                all
            };
            prop_assert_eq!(sorted(&apart), sorted(&mixed));
        }
    }
}

#[test]
fn the_window_ends_after_its_last_page() {
    let mut predictor = Predictor::new(params(1, 1)).unwrap();
    learn(
        &mut predictor,
        1,
        &[(1, true), (2, false), (3, true), (4, false), (5, true)],
    );
    let urls: Vec<&str> = predictor.predict_after(&["/1"], 9).iter().map(|p| p.url).collect();
    assert_eq!(urls, ["/2.png", "/3"]);
}
