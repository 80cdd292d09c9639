// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Requests go in, predictions come out.

use std::num::NonZeroUsize;
use std::time::Duration;

use lru::LruCache;

use crate::client::Client;
use crate::contexts::{Contexts, ROOT};
use crate::urls::Urls;
use crate::{matches, Error, Params};

/// A request as the predictor wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Any number that tells browsers apart: pages of one follow each other.
    pub client: u64,
    /// Any number that tells networks apart, the same after a restart; `None` where it is not known.
    pub network: Option<u64>,
    pub url: &'a str,
    /// Pages make contexts; what they embed (images) is only predicted.
    pub page: bool,
    /// Whether the reply may be kept for every user; `None` where the request or its record does not say.
    pub reusable: Option<bool>,
    /// Since any fixed moment.
    pub at: Duration,
}

/// A URL that a client may ask for, and how that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction<'a> {
    pub url: &'a str,
    /// How often it followed.
    pub count: u32,
    /// How often the context was seen.
    pub hits: u32,
    /// How many pages the context has.
    pub order: usize,
}

impl Prediction<'_> {
    /// Of being asked for in the window, 0 to 1.
    pub fn probability(&self) -> f64 {
        f64::from(self.count) / f64::from(self.hits)
    }
}

/// Prediction by partial matching over the pages of many clients.
#[derive(Debug)]
pub struct Predictor {
    pub(crate) params: Params,
    queries: Vec<String>,
    pub(crate) urls: Urls,
    pub(crate) contexts: Contexts,
    clients: LruCache<u64, Client>,
}

impl Predictor {
    /// Fails with [`Error::Range`] where a parameter is outside its own.
    pub fn new(params: Params) -> Result<Self, Error> {
        let params = params.checked()?;
        let clients = NonZeroUsize::new(params.clients).unwrap_or(NonZeroUsize::MIN);
        Ok(Self {
            params,
            queries: Vec::new(),
            urls: Urls::default(),
            contexts: Contexts::default(),
            clients: LruCache::new(clients),
        })
    }

    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Other thresholds count from now on; what was learned stays. Memory and clients are as at the start.
    pub fn set_params(&mut self, params: Params) -> Result<(), Error> {
        let (memory, clients) = (self.params.memory, self.params.clients);
        self.params = Params {
            memory,
            clients,
            ..params.checked()?
        };
        Ok(())
    }

    /// URLs with a query that may be predicted from now on; `*` at a pattern's end stands for anything.
    pub fn set_queries(&mut self, patterns: Vec<String>) {
        self.queries = patterns;
    }

    /// Whether a URL has no query, or one that a pattern names.
    pub(crate) fn may_name(&self, url: &str) -> bool {
        !url.contains('?') || self.queries.iter().any(|pattern| matches(pattern, url))
    }

    /// Contexts and URLs that are known, and about how many bytes they take.
    pub fn size(&self) -> (usize, usize, usize) {
        let bytes = self.contexts.bytes() + self.urls.bytes();
        (self.contexts.len(), self.urls.len(), bytes)
    }

    /// Learns from a request.
    pub fn learn(&mut self, request: Request<'_>) {
        let Params {
            order,
            window,
            visit,
            min_clients,
            ..
        } = self.params;
        let named = self.may_name(request.url);
        let client = self.clients.get_or_insert_mut(request.client, Client::default);
        client.at(request.at, visit);
        let url = self.urls.number(request.url);
        // Held until the end: what is forgotten below must not take it away.
        self.urls.retain(url.index);
        if let Some(network) = request.network {
            self.urls.add_client(url.index, network, min_clients.into());
        }
        if let Some(reusable) = request.reusable {
            self.urls.set_reusable(url.index, reusable);
        }
        if named && self.urls.row(url.index).reusable != Some(false) {
            for context in client.windows(url) {
                if self.contexts.is_current(context) {
                    self.contexts.count(context.index, url.index, &mut self.urls);
                }
            }
        }
        let mut contexts = None;
        if request.page {
            let urls = &mut self.urls;
            let mut found = Vec::with_capacity(order);
            found.push(self.contexts.hit(ROOT, url.index, urls));
            let older = client.pages.iter().rev().map(|page| page.url);
            for page in older
                .take(order - 1)
                .take_while(|p| urls.is_current(*p))
                .collect::<Vec<_>>()
            {
                let parent = found[found.len() - 1].index;
                found.push(self.contexts.hit(parent, page.index, urls));
            }
            contexts = Some(found);
        }
        client.push(url, contexts, window);
        self.urls.release(url.index);
        self.forget();
    }

    /// A reply for `url` was seen that must not be kept for every user.
    pub fn withdraw(&mut self, url: &str) {
        if let Some(index) = self.urls.find(url) {
            self.urls.set_reusable(index, false);
        }
    }

    /// Few contexts a request, so that no request waits; more than one can add.
    fn forget(&mut self) {
        if self.contexts.bytes() + self.urls.bytes() > self.params.memory {
            self.contexts.age(16 * self.params.order, &mut self.urls);
        }
    }

    /// At most `most` URLs that `client` may ask for next and has not asked for in this window, most probable first.
    pub fn predict(&self, client: u64, most: usize) -> Vec<Prediction<'_>> {
        let Some(client) = self.clients.peek(&client) else {
            return Vec::new();
        };
        let Some(page) = client.pages.back() else {
            return Vec::new();
        };
        let live = page.contexts.iter().take_while(|c| self.contexts.is_current(**c));
        let path: Vec<u32> = live.map(|c| c.index).collect();
        self.after(&path, most, |url| client.has_asked(url))
    }

    /// As [`Self::predict`] for a client that has just come over `pages`, the latest last.
    pub fn predict_after(&self, pages: &[&str], most: usize) -> Vec<Prediction<'_>> {
        let mut path = Vec::new();
        let mut parent = ROOT;
        for page in pages.iter().rev().take(self.params.order) {
            let Some(next) = self.urls.find(page).and_then(|url| self.contexts.find(parent, url)) else {
                break;
            };
            path.push(next);
            parent = next;
        }
        let own: Vec<u32> = pages.iter().filter_map(|page| self.urls.find(page)).collect();
        self.after(&path, most, |url| own.contains(&url))
    }

    /// The longest context that knows a URL has the say about it.
    fn after(&self, path: &[u32], most: usize, had: impl Fn(u32) -> bool) -> Vec<Prediction<'_>> {
        let mut found: Vec<(u32, Prediction<'_>)> = Vec::with_capacity(most.min(64));
        for (shorter, &index) in path.iter().enumerate().rev() {
            let context = self.contexts.row(index);
            let least = self.params.threshold * f64::from(context.hits);
            let likely = context.successors.iter().take_while(|s| f64::from(s.count) >= least);
            let mut taken = 0;
            for s in likely {
                if taken == most {
                    break;
                }
                let known = found.iter().any(|(url, _)| *url == s.url);
                if known || had(s.url) || self.withheld(s.url).is_some() {
                    continue;
                }
                taken += 1;
                let prediction = Prediction {
                    url: self.urls.text(s.url),
                    count: s.count,
                    hits: context.hits,
                    order: shorter + 1,
                };
                found.push((s.url, prediction));
            }
        }
        found.sort_by(|(_, a), (_, b)| b.probability().total_cmp(&a.probability()));
        found.truncate(most);
        found.into_iter().map(|(_, prediction)| prediction).collect()
    }
}
