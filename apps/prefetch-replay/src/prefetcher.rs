// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What one client prefetches: the hints of its latest page, one after the other, until it wants one of them itself.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::rc::Rc;

use lru::LruCache;
use serde::Serialize;
use tokio::sync::Notify;

use crate::connection::Reply;
use crate::lane::{resolve, Lane};

/// What became of prefetches.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub struct Prefetched {
    pub asked: u64,
    pub arrived: u64,
    /// With another status than 200, or not to be stored.
    pub refused: u64,
    /// The user wanted it before it was there.
    pub given_up: u64,
    pub bytes: u64,
    pub wasted_bytes: u64,
}

/// What a client's demand and its prefetches share.
#[derive(Debug)]
pub struct Shared {
    pub cache: RefCell<Cache>,
    pub prefetched: RefCell<Prefetched>,
    queue: RefCell<VecDeque<String>>,
    under_way: RefCell<HashMap<String, Rc<Notify>>>,
    /// What the user waits for.
    demanded: RefCell<Vec<String>>,
    more: Notify,
}

impl Shared {
    pub fn new(cache: u64) -> Rc<Self> {
        Rc::new(Self {
            cache: RefCell::new(Cache::new(cache)),
            prefetched: RefCell::default(),
            queue: RefCell::default(),
            under_way: RefCell::default(),
            demanded: RefCell::default(),
            more: Notify::new(),
        })
    }

    /// The user wants these now: no prefetch of them goes on or begins.
    pub fn demand(&self, urls: &[String]) {
        self.demanded.borrow_mut().extend_from_slice(urls);
        let under_way = self.under_way.borrow();
        for stop in urls.iter().filter_map(|url| under_way.get(url)) {
            stop.notify_one();
        }
    }

    pub fn has_come(&self, url: &str) {
        self.demanded.borrow_mut().retain(|d| d != url);
    }

    /// The latest page's hints: older ones are discarded.
    pub fn suggest(&self, page: &str, hints: &[String]) {
        let urls = hints.iter().filter_map(|hint| resolve(page, hint));
        *self.queue.borrow_mut() = urls.collect();
        self.more.notify_waiters();
    }

    async fn next(&self) -> String {
        loop {
            let more = self.more.notified();
            while let Some(url) = self.queue.borrow_mut().pop_front() {
                let needless = self.cache.borrow().has(&url)
                    || self.demanded.borrow().contains(&url)
                    || self.under_way.borrow().contains_key(&url);
                if !needless {
                    return url;
                }
            }
            more.await;
        }
    }
}

/// Prefetches over one connection, for ever.
/// The server cannot be reached.
pub async fn run(shared: Rc<Shared>, mut lane: Lane) -> io::Result<()> {
    loop {
        let url = shared.next().await;
        let stop = Rc::new(Notify::new());
        shared.under_way.borrow_mut().insert(url.clone(), stop.clone());
        shared.prefetched.borrow_mut().asked += 1;
        let before = lane.received();
        let mut came = None;
        let result = tokio::select! {
            result = lane.fetch(std::slice::from_ref(&url), None, |_, reply| came = Some(reply)) => Some(result),
            () = stop.notified() => None,
        };
        shared.under_way.borrow_mut().remove(&url);
        match (result, came) {
            (Some(result), came) => {
                result?;
                keep(&shared, &url, came.unwrap_or_default());
            }
            (None, _) => {
                let mut counts = shared.prefetched.borrow_mut();
                let bytes = lane.received().saturating_sub(before);
                counts.given_up += 1;
                counts.bytes += bytes;
                counts.wasted_bytes += bytes;
                lane.hang_up();
            }
        }
    }
}

fn keep(shared: &Shared, url: &str, reply: Reply) {
    let mut counts = shared.prefetched.borrow_mut();
    counts.bytes += reply.bytes;
    if !reply.storable {
        counts.refused += 1;
        counts.wasted_bytes += reply.bytes;
        return;
    }
    counts.arrived += 1;
    let kept = Kept {
        bytes: reply.bytes,
        hints: reply.hints,
        unused: true,
    };
    shared.cache.borrow_mut().put(url, kept);
}

/// Of a reply, all that a replay needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub bytes: u64,
    /// To prefetch once the user is there.
    pub hints: Vec<String>,
    /// It was prefetched, and not asked for yet.
    pub unused: bool,
}

/// What is used least is forgotten when it is full.
#[derive(Debug)]
pub struct Cache {
    entries: LruCache<String, Kept>,
    bytes: u64,
    most: u64,
    /// Prefetched bytes that were forgotten before they were asked for.
    forgotten_unused: u64,
}

impl Cache {
    pub fn new(most: u64) -> Self {
        Self {
            entries: LruCache::unbounded(),
            bytes: 0,
            most,
            forgotten_unused: 0,
        }
    }

    pub fn has(&self, url: &str) -> bool {
        self.entries.contains(url)
    }

    /// The user asks for it. Gives what it was until now.
    pub fn take(&mut self, url: &str) -> Option<Kept> {
        let kept = self.entries.get_mut(url)?;
        let was = kept.clone();
        kept.unused = false;
        Some(was)
    }

    pub fn put(&mut self, url: &str, kept: Kept) {
        self.bytes += kept.bytes;
        if let Some(old) = self.entries.put(url.to_owned(), kept) {
            self.forget(&old);
        }
        while self.bytes > self.most {
            let Some((_, old)) = self.entries.pop_lru() else {
                break;
            };
            self.forget(&old);
        }
    }

    fn forget(&mut self, old: &Kept) {
        self.bytes -= old.bytes;
        if old.unused {
            self.forgotten_unused += old.bytes;
        }
    }

    /// Prefetched bytes that were not asked for.
    pub fn unused(&self) -> u64 {
        let unused = self.entries.iter().filter(|(_, kept)| kept.unused);
        self.forgotten_unused + unused.map(|(_, kept)| kept.bytes).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: u64, unused: bool) -> Kept {
        Kept {
            bytes,
            hints: Vec::new(),
            unused,
        }
    }

    #[test]
    fn what_is_prefetched_is_of_use_once_asked_for() {
        let mut cache = Cache::new(100);
        cache.put("/a", kept(40, true));
        cache.put("/b", kept(40, true));
        assert_eq!(cache.unused(), 80);
        assert!(cache.take("/a").is_some_and(|k| k.unused));
        assert!(cache.take("/a").is_some_and(|k| !k.unused));
        assert_eq!(cache.unused(), 40);
        assert_eq!(cache.take("/c"), None);
    }

    #[test]
    fn the_least_used_makes_room() {
        let mut cache = Cache::new(100);
        cache.put("/a", kept(40, true));
        cache.put("/b", kept(40, true));
        cache.take("/a");
        cache.put("/c", kept(40, false));
        assert!(cache.has("/a") && !cache.has("/b") && cache.has("/c"));
        assert_eq!(cache.unused(), 40, "/b was for nothing");
        cache.put("/c", kept(50, false));
        assert!(cache.has("/a"), "/c is counted once");
    }
}
