// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What each client has been told and sent: how many prefetches are under way, which were used, which were wasted.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;

use crate::socket::Socket;

const MOST_VISITORS: usize = 10_000;
/// URLs that a client is not told of again.
const MOST_TOLD: usize = 64;
/// Prefetched replies that may still prove useful.
const MOST_UNUSED: usize = 16;
/// What was not asked for by then was wasted.
const USEFUL: Duration = Duration::from_secs(600);

/// A prefetched reply on its way.
#[derive(Debug)]
pub struct Delivery {
    pub client: u64,
    pub url: String,
    pub socket: Arc<Socket>,
    /// All of it is with the kernel, or its connection is gone.
    pub handed_over: AtomicBool,
    arrived: AtomicBool,
}

impl Delivery {
    /// The browser has all of it. What the connection sends later does not change that once it was seen.
    pub fn has_arrived(&self) -> bool {
        if self.handed_over.load(Ordering::Acquire) && self.socket.under_way() == 0 {
            self.arrived.store(true, Ordering::Release);
        }
        self.arrived.load(Ordering::Acquire)
    }
}

#[derive(Debug, Default)]
struct Visitor {
    under_way: Vec<Arc<Delivery>>,
    told: VecDeque<String>,
    unused: VecDeque<(String, u64, Instant)>,
    latest: Option<Instant>,
}

/// What a demand request says about earlier prefetches.
#[derive(Debug, Default)]
pub struct Findings {
    /// A page that the user reached without a request: it had been prefetched.
    pub used: Option<String>,
    /// Prefetched bytes that turned out to be wasted: they came, and their page was not seen to be used.
    pub wasted: u64,
    /// Prefetches that the user is waiting for.
    pub awaited: Vec<Arc<Delivery>>,
}

/// All clients, by number.
#[derive(Debug)]
pub struct Visitors(Mutex<LruCache<u64, Visitor>>);

impl Default for Visitors {
    fn default() -> Self {
        let most = NonZeroUsize::new(MOST_VISITORS).unwrap_or(NonZeroUsize::MIN);
        Self(Mutex::new(LruCache::new(most)))
    }
}

impl Visitors {
    fn lock(&self) -> MutexGuard<'_, LruCache<u64, Visitor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A prefetch begins, unless the client has `most` under way.
    pub fn begin(&self, client: u64, url: &str, socket: &Arc<Socket>, most: usize) -> Option<Arc<Delivery>> {
        let mut all = self.lock();
        let visitor = all.get_or_insert_mut(client, Visitor::default);
        visitor.settle();
        if visitor.under_way.len() >= most {
            return None;
        }
        let delivery = Arc::new(Delivery {
            client,
            url: url.to_owned(),
            socket: socket.clone(),
            handed_over: AtomicBool::new(false),
            arrived: AtomicBool::new(false),
        });
        visitor.under_way.push(delivery.clone());
        Some(delivery)
    }

    /// It is over; `bytes` arrived, none where it failed. Gives the bytes of the client's earlier prefetches that now
    /// count as wasted: too old, or too many. They are all of these `bytes` if the client is no longer known.
    pub fn end(&self, delivery: &Arc<Delivery>, bytes: u64) -> u64 {
        delivery.handed_over.store(true, Ordering::Release);
        let mut all = self.lock();
        let Some(visitor) = all.get_mut(&delivery.client) else {
            return bytes;
        };
        visitor.under_way.retain(|d| !Arc::ptr_eq(d, delivery));
        if bytes == 0 {
            return 0;
        }
        visitor.unused.push_back((delivery.url.clone(), bytes, Instant::now()));
        visitor.expire()
    }

    /// A demand request for `url`, from a page of this site or from elsewhere.
    pub fn demand(&self, client: u64, url: &str, referrer: Option<&str>) -> Findings {
        let mut all = self.lock();
        let visitor = all.get_or_insert_mut(client, Visitor::default);
        visitor.latest = Some(Instant::now());
        let mut findings = Findings {
            wasted: visitor.expire(),
            ..Findings::default()
        };
        let awaited = |d: &&Arc<Delivery>| Some(d.url.as_str()) == referrer || d.url == url;
        findings.awaited = visitor.under_way.iter().filter(awaited).cloned().collect();
        if let Some(at) = visitor.unused.iter().position(|(u, ..)| Some(u.as_str()) == referrer) {
            findings.used = visitor.unused.remove(at).map(|(used, ..)| used);
        }
        if let Some(at) = visitor.unused.iter().position(|(u, ..)| u == url) {
            findings.wasted += visitor.unused.remove(at).map_or(0, |(_, bytes, _)| bytes);
        }
        findings
    }

    /// How long the client's latest demand request is past.
    pub fn idle(&self, client: u64) -> Option<Duration> {
        self.lock().peek(&client)?.latest.map(|at| at.elapsed())
    }

    /// Keeps of `urls` what the client has not been told, as many as it may have under way.
    pub fn tell(&self, client: u64, urls: Vec<String>, most: usize) -> Vec<String> {
        let mut all = self.lock();
        let visitor = all.get_or_insert_mut(client, Visitor::default);
        visitor.settle();
        let free = most.saturating_sub(visitor.under_way.len());
        let fresh = urls
            .into_iter()
            .filter(|url| !visitor.told.contains(url))
            .take(free)
            .collect::<Vec<_>>();
        visitor.told.extend(fresh.iter().cloned());
        let old = visitor.told.len().saturating_sub(MOST_TOLD);
        visitor.told.drain(..old);
        fresh
    }
}

impl Visitor {
    /// Forgets what has arrived: its own watch notices later.
    fn settle(&mut self) {
        self.under_way.retain(|delivery| !delivery.has_arrived());
    }

    fn expire(&mut self) -> u64 {
        let mut wasted = 0;
        while let Some((_, bytes, at)) = self.unused.front() {
            if self.unused.len() <= MOST_UNUSED && at.elapsed() < USEFUL {
                break;
            }
            wasted += bytes;
            self.unused.pop_front();
        }
        wasted
    }
}
