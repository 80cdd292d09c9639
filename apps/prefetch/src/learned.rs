// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What can be done with the store while no proxy runs: learn from logs, and explain.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use netnice_prefetch_predictor::log::{is_page, Reader, Record};
use netnice_prefetch_predictor::{Predictor, Reason, Request, Withheld};
use serde_json::json;

use crate::clients::Clients;
use crate::config::Config;
use crate::rules::is_plain;
use crate::store::Store;
use crate::{Error, Result};
use netnice_output::complain;

const SAY_EVERY: Duration = Duration::from_secs(2);
/// So much may be lost when training is interrupted.
const WRITE_EVERY: u64 = 200_000;

fn open(config: &Config) -> Result<(Store, Predictor)> {
    let missing = || Error::Setting("there is no home to keep what is learned in: name a file with --store".into());
    let store = Store::open(config.store.as_deref().ok_or_else(missing)?)?;
    let mut predictor = store.read(config.prefetch.params())?;
    predictor.set_queries(config.prefetch.queries.clone());
    Ok((store, predictor))
}

/// Learns; gives what to say at the end.
pub fn train(config: &Config, logs: &[PathBuf]) -> Result<String> {
    let (store, mut predictor) = open(config)?;
    let clients = Clients::new(&store.key);
    let (mut lines, mut learned, mut said) = (0u64, 0u64, Instant::now());
    for path in logs {
        let mut reader = Reader::default();
        for line in lines_of(path)? {
            // Logs hold what strangers sent: a line that is no text is one that is not read.
            let Ok(line) = line else { continue };
            lines += 1;
            let Some(record) = reader.line(&line) else {
                continue;
            };
            if !record.is_learnable() || !is_plain(path_of(&record.url)) {
                continue;
            }
            predictor.learn(request(&record, &clients));
            learned += 1;
            if learned % WRITE_EVERY == 0 {
                store.write(&predictor.changes())?;
            }
            if said.elapsed() > SAY_EVERY {
                said = Instant::now();
                complain(format!("{lines} lines read"));
            }
        }
    }
    store.write(&predictor.changes())?;
    let (contexts, urls, bytes) = predictor.size();
    let read = format!("{lines} lines read, {learned} requests learned");
    if learned == 0 {
        return Err(Error::Setting(format!(
            "{read}: is it a Common, Combined, W3C or Squid log, with replies 200 or 304 to GET?"
        )));
    }
    Ok(format!(
        "{read}; {contexts} contexts and {urls} URLs, {:.1} MB",
        bytes as f64 / 1e6
    ))
}

/// A log names clients and the order of their requests; it does not say whether a reply is for every user.
fn request<'a>(record: &'a Record, clients: &Clients) -> Request<'a> {
    let program = record.program.as_bytes();
    let (client, network) = match record.address.parse::<IpAddr>() {
        Ok(address) => (clients.browser(address, program), Some(clients.network(address))),
        // A name and an address may be of one host, which would count twice.
        Err(_) => (clients.named(record.address.as_bytes(), program), None),
    };
    let url = path_of(&record.url);
    Request {
        client,
        network,
        url,
        page: is_page(url),
        reusable: None,
        at: record.at,
    }
}

/// A proxy's log has whole URLs.
fn path_of(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else {
        return url;
    };
    rest.find('/').map_or("/", |at| &rest[at..])
}

fn lines_of(path: &Path) -> Result<Box<dyn Iterator<Item = io::Result<String>>>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lines()));
    }
    let file = File::open(path).map_err(|e| Error::Unreadable(path.into(), e))?;
    Ok(Box::new(BufReader::new(file).lines()))
}

/// Why `url` is told, and what is told on it.
pub fn explain(config: &Config, url: &str, as_json: bool) -> Result<String> {
    let (_, predictor) = open(config)?;
    let reasons = predictor.explain(url);
    let next = predictor.predict_after(&[url], 10);
    if as_json {
        let reason = |r: &Reason| {
            json!({
                "pages": r.pages, "count": r.count, "hits": r.hits, "withheld": r.withheld.map(|w| why(&w)),
            })
        };
        let told =
            |p: &netnice_prefetch_predictor::Prediction<'_>| json!({ "url": p.url, "count": p.count, "hits": p.hits });
        let all = json!({
            "url": url,
            "predicted_after": reasons.iter().map(reason).collect::<Vec<_>>(),
            "told_on_it": next.iter().map(told).collect::<Vec<_>>(),
        });
        return Ok(all.to_string());
    }
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").unwrap_or_default();
    if reasons.is_empty() {
        line(format!("{url} was not seen to follow any page"));
    }
    for r in reasons.iter().take(10) {
        let verdict = r.withheld.map_or("told".into(), |w| format!("not told: {}", why(&w)));
        line(format!(
            "after {}: {} of {} times ({:.0} %), {verdict}",
            r.pages.join(", "),
            r.count,
            r.hits,
            100.0 * f64::from(r.count) / f64::from(r.hits)
        ));
    }
    for p in &next {
        line(format!(
            "on {url} browsers are told {}: it followed {} of {} times ({:.0} %)",
            p.url,
            p.count,
            p.hits,
            100.0 * p.probability()
        ));
    }
    Ok(out)
}

fn why(withheld: &Withheld) -> String {
    match withheld {
        Withheld::Query => "it has a query that prefetch.queries does not name".into(),
        Withheld::NotReusable => "its latest reply is private, or cannot be used from a cache".into(),
        Withheld::NoReply => {
            "no reply to a request without cookies was seen yet; trust_logs = true would do without".into()
        }
        Withheld::FewClients { clients, least } => {
            format!("{clients} of the needed {least} networks asked for it so far")
        }
        Withheld::Improbable { threshold } => format!("less probable than {threshold}"),
    }
}
