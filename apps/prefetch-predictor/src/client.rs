// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A client's latest requests.

use std::collections::VecDeque;
use std::time::Duration;

use crate::contexts::ContextId;
use crate::urls::UrlId;

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
