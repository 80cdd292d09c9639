// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Why a URL is predicted, or is not.

use crate::contexts::ROOT;
use crate::Predictor;

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
