// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Requests go in, predictions come out.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::time::Duration;

use lru::LruCache;

use crate::contexts::{ContextId, Contexts, ROOT};
use crate::urls::{UrlId, Urls};
use crate::{Error, Params};

/// A request as the predictor wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Any number that tells clients apart.
    pub client: u64,
    pub url: &'a str,
    /// Pages make contexts; what they embed (images) is only predicted.
    pub page: bool,
    /// Whether a cache may keep the reply for everybody: only then is it ever predicted.
    pub cachable: bool,
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

    /// Contexts and URLs that are known, and about how many bytes they take.
    pub fn size(&self) -> (usize, usize, usize) {
        let bytes = self.contexts.bytes() + self.urls.bytes();
        (self.contexts.len(), self.urls.len(), bytes)
    }

    /// Learns from a request.
    pub fn learn(&mut self, request: Request<'_>) {
        let Params {
            order, window, visit, ..
        } = self.params;
        let client = self.clients.get_or_insert_mut(request.client, Client::default);
        client.at(request.at, visit);
        let url = self.urls.asked(request.url, request.client, request.cachable);
        // Held until the end: what is forgotten below must not take it away.
        self.urls.retain(url.index);
        if request.cachable {
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
                let row = self.urls.row(s.url);
                let known = found.iter().any(|(url, _)| *url == s.url);
                if known || !row.cachable || row.clients < self.params.min_clients || had(s.url) {
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

/// URLs that are remembered of a window; of pages with more, the later ones may count twice.
const MOST_REQUESTS: usize = 128;

#[derive(Debug)]
pub(crate) struct Page {
    pub url: UrlId,
    /// By order: the page alone, with the one before it, and so on.
    pub contexts: Vec<ContextId>,
    number: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Client {
    pub pages: VecDeque<Page>,
    requests: VecDeque<(UrlId, u64)>,
    number: u64,
    latest: Duration,
}

impl Client {
    /// A long silence ends the visit.
    pub fn at(&mut self, now: Duration, visit: Duration) {
        if now.saturating_sub(self.latest) >= visit {
            self.pages.clear();
            self.requests.clear();
        }
        self.latest = self.latest.max(now);
    }

    /// The contexts in whose window a request for `url` is, and has not been before.
    pub fn windows(&self, url: UrlId) -> impl Iterator<Item = ContextId> + '_ {
        let mut requests = self.requests.iter().rev();
        let before = requests.find(|(u, _)| *u == url).map_or(0, |&(_, number)| number);
        let after = move |page: &&Page| page.number >= before && page.url != url;
        self.pages
            .iter()
            .filter(after)
            .flat_map(|page| page.contexts.iter().copied())
    }

    /// A request; `contexts` where it is a page.
    pub fn push(&mut self, url: UrlId, contexts: Option<Vec<ContextId>>, window: usize) {
        self.number += 1;
        self.requests.push_back((url, self.number));
        if let Some(contexts) = contexts {
            if self.pages.len() == window {
                self.pages.pop_front();
            }
            let number = self.number;
            self.pages.push_back(Page { url, contexts, number });
        }
        let oldest = self.pages.front().map_or(self.number, |page| page.number);
        while self.requests.len() > MOST_REQUESTS || self.requests.front().is_some_and(|&(_, number)| number < oldest) {
            self.requests.pop_front();
        }
    }

    /// Whether it asked for `url` in this window.
    pub fn has_asked(&self, url: u32) -> bool {
        self.requests.iter().any(|(u, _)| u.index == url)
    }
}

/// One reason, for or against.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// The pages of the context, the latest last.
    pub pages: Vec<String>,
    /// How often the URL followed them, and how often they were seen.
    pub count: u32,
    pub hits: u32,
    /// What holds a prediction back, if anything.
    pub withheld: Option<Withheld>,
}

/// Why a URL that follows a context is not predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Withheld {
    /// A cache must not keep it, or not for everybody.
    NotCachable,
    /// Fewer clients than asked for have ever requested it.
    FewClients { clients: u8, least: u8 },
    /// It is less probable than the threshold.
    Improbable { threshold: f64 },
}

impl Predictor {
    /// After which pages `url` is asked for, the most frequent first.
    pub fn explain(&self, url: &str) -> Vec<Reason> {
        let Some(target) = self.urls.find(url) else {
            return Vec::new();
        };
        let row = self.urls.row(target);
        let mut reasons = Vec::new();
        for index in self.contexts.numbers() {
            let context = self.contexts.row(index);
            let Some(s) = context.successors.iter().find(|s| s.url == target) else {
                continue;
            };
            let p = f64::from(s.count) / f64::from(context.hits);
            let (least, threshold) = (self.params.min_clients, self.params.threshold);
            let withheld = if !row.cachable {
                Some(Withheld::NotCachable)
            } else if row.clients < least {
                Some(Withheld::FewClients {
                    clients: row.clients,
                    least,
                })
            } else if p < threshold {
                Some(Withheld::Improbable { threshold })
            } else {
                None
            };
            let (count, hits) = (s.count, context.hits);
            let pages = self.pages(index);
            reasons.push(Reason {
                pages,
                count,
                hits,
                withheld,
            });
        }
        reasons.sort_by(|a, b| (b.count, &a.pages).cmp(&(a.count, &b.pages)));
        reasons
    }

    fn pages(&self, mut index: u32) -> Vec<String> {
        let mut pages = Vec::new();
        while index != ROOT {
            let context = self.contexts.row(index);
            pages.push(self.urls.text(context.url).to_owned());
            index = context.parent;
        }
        pages
    }
}
