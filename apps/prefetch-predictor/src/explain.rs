// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Why a URL is predicted, or is not.

use crate::contexts::ROOT;
use crate::predictor::Predictor;

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
    /// It has a query that no pattern names.
    Query,
    /// Its latest reply must not be kept, or is not for every user.
    NotReusable,
    /// No reply was seen.
    NoReply,
    /// Fewer networks than asked for have requested it.
    FewClients { clients: usize, least: u8 },
    /// It is less probable than the threshold.
    Improbable { threshold: f64 },
}

impl Predictor {
    /// Why a URL is never predicted, whatever it follows.
    pub(crate) fn withheld(&self, url: u32) -> Option<Withheld> {
        let (row, least) = (self.urls.row(url), self.params.min_clients);
        let clients = row.clients.len();
        match row.reusable {
            _ if !self.may_name(self.urls.text(url)) => Some(Withheld::Query),
            Some(false) => Some(Withheld::NotReusable),
            None if !self.params.trust_logs => Some(Withheld::NoReply),
            _ if clients < least.into() => Some(Withheld::FewClients { clients, least }),
            _ => None,
        }
    }

    /// After which pages `url` is asked for, the most frequent first.
    pub fn explain(&self, url: &str) -> Vec<Reason> {
        let Some(target) = self.urls.find(url) else {
            return Vec::new();
        };
        let mut reasons = Vec::new();
        for index in self.contexts.numbers() {
            let context = self.contexts.row(index);
            let Some(s) = context.successors.iter().find(|s| s.url == target) else {
                continue;
            };
            let p = f64::from(s.count) / f64::from(context.hits);
            let threshold = self.params.threshold;
            let improbable = (p < threshold).then_some(Withheld::Improbable { threshold });
            let withheld = self.withheld(target).or(improbable);
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
