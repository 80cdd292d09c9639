// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What one client prefetches: the hints of its latest page, one after the other, until it wants one of them itself.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::rc::Rc;

use serde::Serialize;
use tokio::sync::Notify;

use crate::cache::{Cache, Kept};
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
///
/// # Errors
/// The server cannot be reached.
pub async fn run(shared: Rc<Shared>, mut lane: Lane) -> io::Result<()> {
    loop {
        let url = shared.next().await;
        let stop = Rc::new(Notify::new());
        shared
            .under_way
            .borrow_mut()
            .insert(url.clone(), stop.clone());
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
