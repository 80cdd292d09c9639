// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is never predicted: URLs that few networks know, whose reply is not for every user, or that have a query.

use std::collections::BTreeSet;
use std::time::Duration;

use netnice_prefetch_predictor::{matches, Error, Params, Predictor, Request, UrlRow, Withheld};
use proptest::prelude::*;

use crate::bounds::{keep, Kept};

const SECRET: &str = "/reset/9f3c";

fn params(min_clients: u8) -> Params {
    Params {
        min_clients,
        ..Params::AGGRESSIVE
    }
}

/// A visit of `/` and then `url`.
fn visit(predictor: &mut Predictor, network: Option<u64>, url: &str, reusable: Option<bool>) {
    for (url, reusable) in [("/", Some(true)), (url, reusable)] {
        predictor.learn(Request {
            client: network.unwrap_or(0),
            network,
            url,
            page: true,
            reusable,
            at: Duration::ZERO,
        });
    }
}

fn is_predicted(predictor: &Predictor, url: &str) -> bool {
    predictor.predict_after(&["/"], 9).iter().any(|p| p.url == url)
}

fn reason(predictor: &Predictor, url: &str) -> Option<Withheld> {
    predictor.explain(url)[0].withheld
}

proptest! {
    #[test]
    fn each_network_counts_once_over_restarts(
        asked in prop::collection::vec((prop::option::of(0..6u64), any::<bool>()), 1..40), least in 1..7u8,
    ) {
        let mut predictor = Predictor::new(params(least)).unwrap();
        let (mut kept, mut distinct) = (Kept::default(), BTreeSet::new());
        for (network, restart) in asked {
            visit(&mut predictor, network, SECRET, Some(true));
            distinct.extend(network);
            prop_assert_eq!(is_predicted(&predictor, SECRET), distinct.len() >= usize::from(least));
            if restart {
                keep(&mut predictor, &mut kept);
                predictor = Predictor::restore(params(least), kept.0.clone(), kept.1.clone()).unwrap();
            }
        }
    }
}

#[test]
fn one_persons_secret_is_not_told() {
    let mut predictor = Predictor::new(params(2)).unwrap();
    for _ in 0..9 {
        visit(&mut predictor, Some(1), SECRET, Some(true));
    }
    visit(&mut predictor, None, SECRET, Some(true));
    let few = Withheld::FewClients { clients: 1, least: 2 };
    assert_eq!(reason(&predictor, SECRET), Some(few));
    assert!(!is_predicted(&predictor, SECRET));
    visit(&mut predictor, Some(2), SECRET, Some(true));
    assert!(is_predicted(&predictor, SECRET));
}

#[test]
fn no_more_networks_are_kept_than_are_needed() {
    let mut predictor = Predictor::new(params(2)).unwrap();
    for network in 0..99 {
        visit(&mut predictor, Some(network), "/a", Some(true));
    }
    let rows = predictor.changes().urls;
    assert!(
        rows.iter().all(|(_, row)| row.as_ref().unwrap().clients == [0, 1]),
        "{rows:?}"
    );
}

#[test]
fn the_latest_reply_decides() {
    let mut predictor = Predictor::new(params(1)).unwrap();
    visit(&mut predictor, Some(1), "/a", None);
    assert_eq!(reason(&predictor, "/a"), Some(Withheld::NoReply));
    visit(&mut predictor, Some(1), "/a", Some(true));
    visit(&mut predictor, Some(1), "/a", None);
    assert!(is_predicted(&predictor, "/a"));
    predictor.withdraw("/a");
    visit(&mut predictor, Some(1), "/a", None);
    assert_eq!(reason(&predictor, "/a"), Some(Withheld::NotReusable));
    assert!(!is_predicted(&predictor, "/a"));
    let known = predictor.size().1;
    predictor.withdraw("/unknown");
    assert_eq!(predictor.size().1, known);
}

#[test]
fn a_trusted_log_counts_until_a_reply_is_seen() {
    let trusting = Params {
        trust_logs: true,
        ..params(1)
    };
    let mut predictor = Predictor::new(trusting).unwrap();
    visit(&mut predictor, Some(1), "/a", None);
    assert!(is_predicted(&predictor, "/a"));
    predictor.withdraw("/a");
    assert!(!is_predicted(&predictor, "/a"));
}

#[test]
fn a_query_needs_a_pattern() {
    let url = "/list?page=2";
    let mut predictor = Predictor::new(params(1)).unwrap();
    predictor.set_queries(vec!["/list?page=*".into()]);
    visit(&mut predictor, Some(1), url, Some(true));
    assert!(is_predicted(&predictor, url));
    predictor.set_queries(Vec::new());
    assert_eq!(reason(&predictor, url), Some(Withheld::Query));
    assert!(!is_predicted(&predictor, url));
    assert!(matches("a*", "ab") && matches("a", "a") && !matches("a", "ab") && !matches("a*", "ba"));
}

#[test]
fn a_row_that_counts_a_network_twice_is_damaged() {
    for clients in [vec![1, 1], (0..300).collect()] {
        let row = UrlRow {
            text: "/a".into(),
            clients,
            reusable: None,
        };
        let restored = Predictor::restore(params(1), [(0, row)], []);
        assert_eq!(restored.unwrap_err(), Error::Damaged("a URL"));
    }
}
