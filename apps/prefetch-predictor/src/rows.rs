// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a predictor has learned, as numbered rows for a store, and what of it has changed.

use serde::{Deserialize, Serialize};

use crate::{Error, Params, Predictor};

/// A URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlRow {
    pub text: String,
    pub clients: u8,
    pub cachable: bool,
}

/// A context, and what followed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextRow {
    /// The number of the context without the oldest page; `u32::MAX` where there is only one.
    pub parent: u32,
    /// The number of the oldest page.
    pub url: u32,
    pub hits: u32,
    /// Numbers of URLs, and how often each followed.
    pub successors: Vec<(u32, u32)>,
}

/// Rows by number; `None`: the row is gone.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Changes {
    pub urls: Vec<(u32, Option<UrlRow>)>,
    pub contexts: Vec<(u32, Option<ContextRow>)>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.urls.is_empty() && self.contexts.is_empty()
    }
}

impl Predictor {
    /// What has changed since it was last asked. Stored together, rows always fit together.
    pub fn changes(&mut self) -> Changes {
        let urls = self.urls.take_changed();
        let contexts = self.contexts.take_changed();
        let url = |index| {
            let row = self.urls.row(index);
            let text = row.text.as_deref()?.to_owned();
            let (clients, cachable) = (row.clients, row.cachable);
            Some(UrlRow {
                text,
                clients,
                cachable,
            })
        };
        let context = |index| {
            let row = self.contexts.row(index);
            row.is_live().then(|| ContextRow {
                parent: row.parent,
                url: row.url,
                hits: row.hits,
                successors: row.successors.iter().map(|s| (s.url, s.count)).collect(),
            })
        };
        Changes {
            urls: urls.into_iter().map(|i| (i, url(i))).collect(),
            contexts: contexts.into_iter().map(|i| (i, context(i))).collect(),
        }
    }

    /// From all rows that are kept, in any order. Fails with [`Error::Damaged`] where they do not fit together.
    pub fn restore(
        params: Params,
        urls: impl IntoIterator<Item = (u32, UrlRow)>,
        contexts: impl IntoIterator<Item = (u32, ContextRow)>,
    ) -> Result<Self, Error> {
        /* A number far beyond all rows is damage, and would be taken for a size. */
        const MOST_ROWS: u32 = 1 << 26;
        let mut predictor = Self::new(params)?;
        for (index, row) in urls {
            let fits = index < MOST_ROWS
                && predictor
                    .urls
                    .restore(index, &row.text, row.clients, row.cachable);
            if !fits {
                return Err(Error::Damaged("a URL"));
            }
        }
        let mut waiting: Vec<_> = contexts.into_iter().collect();
        for order in 0.. {
            if waiting.is_empty() || order > crate::params::MOST_ORDER {
                break;
            }
            let live: std::collections::HashSet<u32> = predictor.contexts.numbers().collect();
            let ready = |row: &ContextRow| row.parent == u32::MAX || live.contains(&row.parent);
            let (now, later): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|(_, row)| ready(row));
            for (index, row) in now {
                if index >= MOST_ROWS
                    || !predictor.contexts.restore(index, row, &mut predictor.urls)
                {
                    return Err(Error::Damaged("a context"));
                }
            }
            waiting = later;
        }
        if !waiting.is_empty() {
            return Err(Error::Damaged("a context without its parent"));
        }
        predictor.contexts.restored();
        predictor.urls.restored();
        predictor.changes();
        Ok(predictor)
    }
}
