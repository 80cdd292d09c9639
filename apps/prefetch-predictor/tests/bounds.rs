// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Whatever is asked for: memory keeps its bound, probabilities are probabilities, and a restart forgets nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use netnice_prefetch_predictor::{ContextRow, Error, Params, Predictor, Request, UrlRow};
use proptest::prelude::*;

const SMALL: Params = Params {
    memory: 65536,
    clients: 4,
    ..Params::AGGRESSIVE
};

fn ask(predictor: &mut Predictor, client: u64, url: &str, second: u64) {
    predictor.learn(Request {
        client,
        network: Some(client),
        url,
        page: !url.ends_with('g'),
        reusable: Some(true),
        at: Duration::from_secs(second),
    });
}

fn stream(most: u16) -> impl Strategy<Value = Vec<(u64, u16, bool, u64)>> {
    prop::collection::vec((0..6u64, 0..most, any::<bool>(), 0..4000u64), 1..900)
}

fn run(params: Params, stream: &[(u64, u16, bool, u64)]) -> Predictor {
    let mut predictor = Predictor::new(params).unwrap();
    for &(client, number, page, second) in stream {
        let url = format!("/{number}{}", if page { "" } else { ".png" });
        ask(&mut predictor, client, &url, second);
    }
    predictor
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn memory_keeps_its_bound(stream in stream(9999)) {
        let mut predictor = Predictor::new(SMALL).unwrap();
        for (client, number, page, second) in stream {
            ask(&mut predictor, client, &format!("/{number}{}", if page { "" } else { ".png" }), second);
            // One request adds at most two contexts and a URL, and a place in each window.
            prop_assert!(predictor.size().2 < SMALL.memory + 4096, "{:?}", predictor.size());
        }
    }

    #[test]
    fn predictions_are_probabilities_in_order(stream in stream(40), threshold in 0.0..1.0f64, most in 0..9usize) {
        let predictor = run(Params { threshold, memory: 1 << 20, ..SMALL }, &stream);
        for client in 0..6 {
            let found = predictor.predict(client, most);
            prop_assert!(found.len() <= most);
            prop_assert!(found.iter().all(|p| p.probability() >= threshold && p.probability() <= 1.0));
            prop_assert!(found.windows(2).all(|p| p[0].probability() >= p[1].probability()));
        }
    }

    #[test]
    fn a_restart_forgets_nothing(stream in stream(300), cut in 0..900usize) {
        let mut kept = (BTreeMap::new(), BTreeMap::new());
        let mut predictor = Predictor::new(SMALL).unwrap();
        for (i, &(client, number, page, second)) in stream.iter().enumerate() {
            if i == cut {
                keep(&mut predictor, &mut kept);
            }
            ask(&mut predictor, client, &format!("/{number}{}", if page { "" } else { ".png" }), second);
        }
        keep(&mut predictor, &mut kept);
        let (contexts, urls, _) = predictor.size();
        prop_assert_eq!((kept.1.len(), kept.0.len()), (contexts, urls));
        let mut again = Predictor::restore(SMALL, kept.0.clone(), kept.1.clone()).unwrap();
        prop_assert!(again.changes().is_empty());
        for number in 0..300 {
            let url = format!("/{number}");
            let all = |p: &Predictor| p.predict_after(&[&url], 99).iter().map(|p| (p.url.to_owned(), p.count, p.hits)).collect::<std::collections::BTreeSet<_>>();
            prop_assert_eq!(all(&predictor), all(&again));
        }
        // It goes on learning as if nothing had been.
        for (client, number, _, second) in stream {
            ask(&mut again, client, &format!("/{number}"), second);
        }
    }

    #[test]
    fn damage_is_an_error_and_no_panic(
        urls in prop::collection::vec((0..9u32, "[ab]{0,2}"), 0..9),
        contexts in prop::collection::vec((0..9u32, any::<u32>(), 0..9u32, 0..3u32, prop::collection::vec((0..9u32, 0..3u32), 0..4)), 0..9),
    ) {
        let urls = urls.into_iter().map(|(i, text)| (i, UrlRow { text, clients: vec![1], reusable: Some(true) }));
        let contexts = contexts.into_iter().map(|(i, parent, url, hits, successors)| {
            let parent = if parent % 3 > 0 { u32::MAX } else { parent % 9 };
            (i, ContextRow { parent, url, hits, successors })
        });
        if let Ok(mut predictor) = Predictor::restore(SMALL, urls, contexts) {
            ask(&mut predictor, 1, "/a", 1);
            ask(&mut predictor, 1, "/b", 1);
        }
    }
}

pub type Kept = (BTreeMap<u32, UrlRow>, BTreeMap<u32, ContextRow>);

pub fn keep(predictor: &mut Predictor, kept: &mut Kept) {
    let changes = predictor.changes();
    for (index, row) in changes.urls {
        match row {
            Some(row) => kept.0.insert(index, row),
            None => kept.0.remove(&index),
        };
    }
    for (index, row) in changes.contexts {
        match row {
            Some(row) => kept.1.insert(index, row),
            None => kept.1.remove(&index),
        };
    }
}

#[test]
fn a_long_silence_begins_a_new_visit() {
    let mut predictor = Predictor::new(SMALL).unwrap();
    ask(&mut predictor, 1, "/", 0);
    ask(&mut predictor, 1, "/a", 1799);
    ask(&mut predictor, 1, "/b", 1799 + 1800);
    let urls: Vec<&str> = predictor.predict_after(&["/"], 9).iter().map(|p| p.url).collect();
    assert_eq!(urls, ["/a"]);
}

#[test]
fn the_presets_are_the_papers() {
    let of = |preset: Params| (preset.order, preset.window, preset.threshold, preset.pause);
    assert_eq!(of(Params::CONSERVATIVE), (2, 5, 0.25, Duration::from_secs(1)));
    assert_eq!(of(Params::AGGRESSIVE), (2, 10, 0.00001, Duration::ZERO));
}

#[test]
fn parameters_have_ranges() {
    for (params, name) in [
        (Params { order: 0, ..SMALL }, "order"),
        (Params { window: 65, ..SMALL }, "window"),
        (
            Params {
                threshold: f64::NAN,
                ..SMALL
            },
            "threshold",
        ),
        (
            Params {
                min_clients: 0,
                ..SMALL
            },
            "min_clients",
        ),
        (Params { memory: 9, ..SMALL }, "memory"),
        (Params { clients: 0, ..SMALL }, "clients"),
    ] {
        let error = Predictor::new(params).unwrap_err();
        assert!(matches!(error, Error::Range { name: n, .. } if n == name), "{error}");
    }
}
