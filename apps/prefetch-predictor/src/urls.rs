// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! URLs by number. A number is given again once no context speaks of it; the generation tells old from new.

use std::collections::{HashMap, HashSet};
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
    /// Whether the latest reply that was seen may be kept for every user; `None`: no reply was seen.
    pub reusable: Option<bool>,
    /// Networks that asked for it, each once, no more than are needed.
    pub clients: Vec<u64>,
    generation: u32,
    references: u32,
    changed: bool,
}

/// What a URL costs beside its text: its row, its place in the map, two counters of its Arc, the allocator's share.
const URL_BYTES: usize = std::mem::size_of::<Url>() + 48 + 48;
const CLIENT_BYTES: usize = std::mem::size_of::<u64>();

#[derive(Debug, Default)]
pub(crate) struct Urls {
    rows: Vec<Url>,
    free: Vec<u32>,
    by_text: HashMap<Arc<str>, u32>,
    changed: Vec<u32>,
    text_bytes: usize,
    clients: usize,
}

impl Urls {
    pub fn len(&self) -> usize {
        self.by_text.len()
    }

    pub fn bytes(&self) -> usize {
        self.text_bytes + self.by_text.len() * URL_BYTES + self.clients * CLIENT_BYTES
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

    /// The number of a URL, which is new where it is not known.
    pub fn number(&mut self, text: &str) -> UrlId {
        let index = self.find(text).unwrap_or_else(|| self.insert(text));
        let generation = self.row(index).generation;
        UrlId { index, generation }
    }

    /// `client` asked for it; of its clients at most `most` are kept.
    pub fn add_client(&mut self, index: u32, client: u64, most: usize) {
        let row = &mut self.rows[index as usize];
        if row.clients.len() < most && !row.clients.contains(&client) {
            row.clients.reserve_exact(1);
            row.clients.push(client);
            self.clients += 1;
            self.mark(index);
        }
    }

    /// What the latest reply says.
    pub fn set_reusable(&mut self, index: u32, reusable: bool) {
        let row = &mut self.rows[index as usize];
        if row.reusable != Some(reusable) {
            row.reusable = Some(reusable);
            self.mark(index);
        }
    }

    fn insert(&mut self, text: &str) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.rows.push(Url::default());
            (self.rows.len() - 1) as u32
        });
        self.place(index, text);
        self.mark(index);
        index
    }

    fn place(&mut self, index: u32, text: &str) {
        let text: Arc<str> = text.into();
        self.text_bytes += text.len();
        self.by_text.insert(text.clone(), index);
        self.rows[index as usize].text = Some(text);
    }

    /// As it was kept; the numbers of URLs must not change while contexts speak of them.
    pub fn restore(&mut self, index: u32, kept: UrlRow) -> bool {
        let needed = index as usize + 1;
        if self.rows.len() < needed {
            self.rows.resize_with(needed, Url::default);
        }
        let distinct: HashSet<&u64> = kept.clients.iter().collect();
        let fits = distinct.len() == kept.clients.len() && kept.clients.len() <= usize::from(u8::MAX);
        if !fits || self.row(index).text.is_some() || self.by_text.contains_key(kept.text.as_str()) {
            return false;
        }
        self.place(index, &kept.text);
        self.clients += kept.clients.len();
        let row = &mut self.rows[index as usize];
        (row.clients, row.reusable) = (kept.clients, kept.reusable);
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
            self.clients -= row.clients.len();
            (row.clients, row.reusable) = (Vec::new(), None);
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
    pub clients: Vec<u64>,
    pub reusable: Option<bool>,
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
