// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A predictor as rows, and from rows again.

use std::collections::HashSet;

use crate::params::MOST_ORDER;
use crate::predictor::Predictor;
use crate::urls::{Changes, ContextRow, UrlRow};
use crate::{Error, Params};

impl Predictor {
    /// What has changed since it was last asked. Stored together, rows always fit together.
    pub fn changes(&mut self) -> Changes {
        let urls = self.urls.take_changed();
        let contexts = self.contexts.take_changed();
        let url = |index| {
            let row = self.urls.row(index);
            let text = row.text.as_deref()?.to_owned();
            let (clients, reusable) = (row.clients.clone(), row.reusable);
            Some(UrlRow {
                text,
                clients,
                reusable,
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
            if index >= MOST_ROWS || !predictor.urls.restore(index, row) {
                return Err(Error::Damaged("a URL"));
            }
        }
        let mut waiting: Vec<_> = contexts.into_iter().collect();
        for order in 0.. {
            if waiting.is_empty() || order > MOST_ORDER {
                break;
            }
            let live: HashSet<u32> = predictor.contexts.numbers().collect();
            let ready = |row: &ContextRow| row.parent == u32::MAX || live.contains(&row.parent);
            let (now, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(_, row)| ready(row));
            for (index, row) in now {
                if index >= MOST_ROWS || !predictor.contexts.restore(index, row, &mut predictor.urls) {
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
