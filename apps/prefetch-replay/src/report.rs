// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What users waited for, and what was prefetched.

use std::cell::RefCell;
use std::fmt;
use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use crate::connection::Reply;
use crate::prefetcher::Prefetched;

/// Where a demanded reply came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    Server,
    /// It had been demanded before.
    Cache,
    /// It had been prefetched, and not been used yet.
    Prefetch,
    /// It had not come when the replay ended: the time is what was waited until then.
    Nowhere,
}

/// A demanded URL.
#[derive(Debug, Clone)]
pub struct Demanded {
    url: String,
    from: From,
    wanted: Instant,
    waited: Duration,
}

impl Demanded {
    pub fn at_once(url: &str, from: From, wanted: Instant) -> Self {
        let (url, waited) = (url.to_owned(), Duration::ZERO);
        Self {
            url,
            from,
            wanted,
            waited,
        }
    }
}

/// Takes down what all clients do.
#[derive(Debug, Default)]
pub struct Record {
    came: RefCell<Vec<Demanded>>,
    waiting: RefCell<Vec<(String, Instant)>>,
    views: RefCell<Vec<(Instant, Duration)>>,
    bytes: RefCell<u64>,
    errors: RefCell<u64>,
}

impl Record {
    pub fn came(&self, demanded: Demanded) {
        self.came.borrow_mut().push(demanded);
    }

    pub fn wait(&self, urls: &[String], wanted: Instant) {
        let waiting = urls.iter().map(|url| (url.clone(), wanted));
        self.waiting.borrow_mut().extend(waiting);
    }

    /// From the server; of clients that wait for the same, the one that has waited since `wanted`.
    pub fn arrived(&self, url: &str, wanted: Instant, reply: &Reply) {
        let mut waiting = self.waiting.borrow_mut();
        if let Some(at) = waiting.iter().position(|(u, w)| u == url && *w == wanted) {
            waiting.swap_remove(at);
        }
        *self.bytes.borrow_mut() += reply.bytes;
        *self.errors.borrow_mut() += u64::from(reply.status >= 400);
        self.came(Demanded {
            url: url.to_owned(),
            from: From::Server,
            wanted,
            waited: wanted.elapsed(),
        });
    }

    pub fn view(&self, began: Instant) {
        self.views.borrow_mut().push((began, began.elapsed()));
    }

    pub fn so_far(&self) -> String {
        let came = self.came.borrow();
        let hits = came.iter().filter(|d| d.from == From::Prefetch).count();
        format!("{} requests, {hits} of them prefetched", came.len())
    }
}

/// Of response times, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Times {
    pub count: usize,
    pub mean_ms: f64,
    pub median_ms: f64,
    pub p95_ms: f64,
}

impl Times {
    /// Quantiles are times that were: the smallest that so many do not exceed. All are 0 where there are none.
    pub fn new(mut ms: Vec<f64>) -> Self {
        ms.sort_by(f64::total_cmp);
        let count = ms.len();
        let quantile = |q: f64| {
            let rank = (q * count as f64).ceil() as usize;
            ms.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        Self {
            count,
            mean_ms: ms.iter().sum::<f64>() / count.max(1) as f64,
            median_ms: quantile(0.5),
            p95_ms: quantile(0.95),
        }
    }
}

#[derive(Debug, Serialize)]
struct Line {
    at_ms: f64,
    waited_ms: f64,
    from: From,
    url: String,
}

/// All of a replay.
#[derive(Debug, Serialize)]
pub struct Report {
    pub clients: usize,
    pub seconds: f64,
    /// Of these and of what follows the warm-up is left out.
    pub requests: Times,
    /// Pages with all that they embed; those that all came.
    pub pages: Times,
    pub from_prefetch: usize,
    pub from_cache: usize,
    /// Still waited for at the end; counted with the time until then.
    pub unfinished: usize,
    /// From the very beginning: replies of status 400 and above, and bytes of bodies.
    pub errors: u64,
    pub demanded_bytes: u64,
    pub prefetched: Prefetched,
    demanded: Vec<Line>,
}

impl Report {
    pub fn new(clients: usize, record: &Record, prefetched: Prefetched, begin: Instant, warmup: Duration) -> Self {
        let mut demanded = record.came.borrow().clone();
        let unfinished = record.waiting.borrow().clone();
        demanded.extend(unfinished.into_iter().map(|(url, wanted)| Demanded {
            url,
            from: From::Nowhere,
            wanted,
            waited: wanted.elapsed(),
        }));
        demanded.retain(|d| d.wanted >= begin + warmup);
        demanded.sort_by_key(|d| d.wanted);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let views = record.views.borrow();
        let views = views.iter().filter(|(began, _)| *began >= begin + warmup);
        let from = |from| demanded.iter().filter(|d| d.from == from).count();
        Self {
            clients,
            seconds: begin.elapsed().as_secs_f64(),
            requests: Times::new(demanded.iter().map(|d| ms(d.waited)).collect()),
            pages: Times::new(views.map(|(_, took)| ms(*took)).collect()),
            from_prefetch: from(From::Prefetch),
            from_cache: from(From::Cache),
            unfinished: from(From::Nowhere),
            errors: *record.errors.borrow(),
            demanded_bytes: *record.bytes.borrow(),
            prefetched,
            demanded: demanded
                .into_iter()
                .map(|d| Line {
                    at_ms: ms(d.wanted.saturating_duration_since(begin)),
                    waited_ms: ms(d.waited),
                    from: d.from,
                    url: d.url,
                })
                .collect(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: usize| 100.0 * part as f64 / self.requests.count.max(1) as f64;
        let mb = |bytes: u64| bytes as f64 / 1e6;
        let times = |t: &Times| {
            format!(
                "{:6}  {:9.1}  {:9.1}  {:9.1}",
                t.count, t.mean_ms, t.median_ms, t.p95_ms
            )
        };
        let p = &self.prefetched;
        writeln!(f, "{} clients, {:.0} s; they waited, in ms", self.clients, self.seconds)?;
        writeln!(f, "           count       mean     median        p95")?;
        writeln!(f, "requests  {}", times(&self.requests))?;
        writeln!(f, "pages     {}", times(&self.pages))?;
        writeln!(
            f,
            "{:.0} % had been prefetched, {:.0} % demanded before; {} had not come at the end, {} were errors",
            share(self.from_prefetch),
            share(self.from_cache),
            self.unfinished,
            self.errors,
        )?;
        writeln!(
            f,
            "demanded {:.2} MB; prefetched {:.2} MB in {} replies, {:.2} MB of it for nothing; {} refused, {} given up",
            mb(self.demanded_bytes),
            mb(p.bytes),
            p.arrived,
            mb(p.wasted_bytes),
            p.refused,
            p.given_up,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_what_was() {
        let times = Times::new((1..=20).rev().map(f64::from).collect());
        let expected = Times {
            count: 20,
            mean_ms: 10.5,
            median_ms: 10.0,
            p95_ms: 19.0,
        };
        assert_eq!(times, expected);
        assert_eq!(Times::new(vec![3.0]).p95_ms, 3.0);
        assert_eq!(Times::new(Vec::new()), Times::default());
    }
}
