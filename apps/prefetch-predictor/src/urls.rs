// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! URLs by number. A number is given again once no context speaks of it; the generation tells old from new.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A URL's number, and which URL of that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UrlId {
    pub index: u32,
    generation: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Url {
    pub text: Option<Arc<str>>,
    pub cachable: bool,
    pub clients: u8,
    latest_client: u64,
    generation: u32,
    references: u32,
    changed: bool,
}

/// What a URL costs beside its text: its row, its place in the map, two counters of its Arc, the allocator's share.
const URL_BYTES: usize = std::mem::size_of::<Url>() + 48 + 32;

#[derive(Debug, Default)]
pub(crate) struct Urls {
    rows: Vec<Url>,
    free: Vec<u32>,
    by_text: HashMap<Arc<str>, u32>,
    changed: Vec<u32>,
    text_bytes: usize,
}

impl Urls {
    pub fn len(&self) -> usize {
        self.by_text.len()
    }

    pub fn bytes(&self) -> usize {
        self.text_bytes + self.by_text.len() * URL_BYTES
    }

    pub fn find(&self, text: &str) -> Option<u32> {
        self.by_text.get(text).copied()
    }

    pub fn row(&self, index: u32) -> &Url {
        &self.rows[index as usize]
    }

    pub fn text(&self, index: u32) -> &str {
        self.row(index).text.as_deref().unwrap_or_default()
    }

    /// Whether the number still means what it did.
    pub fn is_current(&self, id: UrlId) -> bool {
        self.row(id.index).generation == id.generation
    }

    /// Takes note that `client` asked for it.
    pub fn asked(&mut self, text: &str, client: u64, cachable: bool) -> UrlId {
        let index = match self.find(text) {
            Some(index) => index,
            None => self.insert(text),
        };
        let row = &mut self.rows[index as usize];
        let another = row.clients == 0 || row.latest_client != client;
        let before = (row.clients, row.cachable);
        if another {
            row.clients = row.clients.saturating_add(1);
            row.latest_client = client;
        }
        row.cachable = cachable;
        let (now, generation) = ((row.clients, row.cachable), row.generation);
        if now != before {
            self.mark(index);
        }
        UrlId { index, generation }
    }

    fn insert(&mut self, text: &str) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.rows.push(Url::default());
            (self.rows.len() - 1) as u32
        });
        self.place(index, text);
        index
    }

    fn place(&mut self, index: u32, text: &str) {
        let text: Arc<str> = text.into();
        self.text_bytes += text.len();
        self.by_text.insert(text.clone(), index);
        self.rows[index as usize].text = Some(text);
    }

    /// As it was kept; the numbers of URLs must not change while contexts speak of them.
    pub fn restore(&mut self, index: u32, text: &str, clients: u8, cachable: bool) -> bool {
        let needed = index as usize + 1;
        if self.rows.len() < needed {
            self.rows.resize_with(needed, Url::default);
        }
        if self.row(index).text.is_some() || self.by_text.contains_key(text) {
            return false;
        }
        self.place(index, text);
        let row = &mut self.rows[index as usize];
        (row.clients, row.cachable) = (clients, cachable);
        true
    }

    /// After the last restored row: what no context needs is free.
    pub fn restored(&mut self) {
        for index in (0..self.rows.len() as u32).rev() {
            self.free_if_unused(index);
        }
    }

    pub fn exists(&self, index: u32) -> bool {
        self.rows.get(index as usize).is_some_and(|row| row.text.is_some())
    }

    pub fn retain(&mut self, index: u32) {
        self.rows[index as usize].references += 1;
    }

    pub fn release(&mut self, index: u32) {
        let row = &mut self.rows[index as usize];
        row.references -= 1;
        self.free_if_unused(index);
    }

    pub fn free_if_unused(&mut self, index: u32) {
        let row = &mut self.rows[index as usize];
        if row.references > 0 {
            return;
        }
        if let Some(text) = row.text.take() {
            self.text_bytes -= text.len();
            self.by_text.remove(&text);
            (row.clients, row.cachable) = (0, false);
        }
        row.generation = row.generation.wrapping_add(1);
        self.free.push(index);
        self.mark(index);
    }

    fn mark(&mut self, index: u32) {
        let row = &mut self.rows[index as usize];
        if !row.changed {
            row.changed = true;
            self.changed.push(index);
        }
    }

    pub fn take_changed(&mut self) -> Vec<u32> {
        for &index in &self.changed {
            self.rows[index as usize].changed = false;
        }
        std::mem::take(&mut self.changed)
    }
}

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
