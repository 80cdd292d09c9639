// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A tree of contexts: a child is its parent's pages with one older page before them. Each counts what followed.

use std::collections::HashMap;

use crate::urls::Urls;

/// Above all contexts of one page.
pub(crate) const ROOT: u32 = u32::MAX;
/// The most different URLs that are counted after a context.
const MOST_SUCCESSORS: usize = 64;

/// A context's number, and which context of that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContextId {
    pub index: u32,
    generation: u32,
}

/// How often a URL was asked for in the window after a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Successor {
    pub url: u32,
    pub count: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Context {
    pub parent: u32,
    pub url: u32,
    /// How often the pages were seen; no successor has a larger count.
    pub hits: u32,
    /// Highest count first.
    pub successors: Vec<Successor>,
    children: u32,
    generation: u32,
    changed: bool,
}

impl Context {
    pub fn is_live(&self) -> bool {
        self.hits > 0
    }
}

/// A context's row and its place in the map.
const CONTEXT_BYTES: usize = std::mem::size_of::<Context>() + 24 + 16;
const SUCCESSOR_BYTES: usize = std::mem::size_of::<Successor>();

#[derive(Debug, Default)]
pub(crate) struct Contexts {
    rows: Vec<Context>,
    free: Vec<u32>,
    by_key: HashMap<(u32, u32), u32>,
    changed: Vec<u32>,
    places: usize,
    hand: usize,
}

impl Contexts {
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    pub fn bytes(&self) -> usize {
        self.by_key.len() * CONTEXT_BYTES + self.places * SUCCESSOR_BYTES
    }

    pub fn find(&self, parent: u32, url: u32) -> Option<u32> {
        self.by_key.get(&(parent, url)).copied()
    }

    pub fn row(&self, index: u32) -> &Context {
        &self.rows[index as usize]
    }

    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.rows.len() as u32).filter(|&i| self.row(i).is_live())
    }

    pub fn is_current(&self, id: ContextId) -> bool {
        self.row(id.index).generation == id.generation
    }

    /// The pages were seen once more.
    pub fn hit(&mut self, parent: u32, url: u32, urls: &mut Urls) -> ContextId {
        let index = self.find(parent, url).unwrap_or_else(|| {
            let index = self.free.pop().unwrap_or(self.rows.len() as u32);
            self.place(index, parent, url, urls);
            index
        });
        let row = &mut self.rows[index as usize];
        row.hits = row.hits.saturating_add(1);
        let generation = row.generation;
        self.mark(index);
        ContextId { index, generation }
    }

    fn place(&mut self, index: u32, parent: u32, url: u32, urls: &mut Urls) {
        if self.rows.len() <= index as usize {
            self.rows.resize_with(index as usize + 1, Context::default);
        }
        let row = &mut self.rows[index as usize];
        (row.parent, row.url) = (parent, url);
        self.by_key.insert((parent, url), index);
        urls.retain(url);
        if parent != ROOT {
            self.rows[parent as usize].children += 1;
        }
    }

    /// `url` was asked for in the window after the context. Where all places are taken, the rarest one wears off first.
    pub fn count(&mut self, index: u32, url: u32, urls: &mut Urls) {
        let row = &mut self.rows[index as usize];
        let list = &mut row.successors;
        let before = list.capacity();
        if let Some(at) = list.iter().position(|s| s.url == url) {
            let count = (list[at].count + 1).min(row.hits);
            list[at].count = count;
            let to = list[..at].iter().rposition(|s| s.count >= count).map_or(0, |i| i + 1);
            list.swap(at, to);
        } else if list.len() < MOST_SUCCESSORS {
            if list.len() == list.capacity() {
                list.reserve_exact((list.len() / 2).max(4));
            }
            list.push(Successor { url, count: 1 });
            urls.retain(url);
        } else if let Some(rarest) = list.last_mut() {
            rarest.count -= 1;
            if rarest.count == 0 {
                let old = rarest.url;
                *rarest = Successor { url, count: 1 };
                urls.retain(url);
                urls.release(old);
            }
        }
        self.places += self.rows[index as usize].successors.capacity() - before;
        self.mark(index);
    }

    /// Halves the counts of the next `steps` contexts; what comes to nothing is forgotten.
    pub fn age(&mut self, steps: usize, urls: &mut Urls) {
        for _ in 0..steps.min(self.rows.len()) {
            self.hand = (self.hand + 1) % self.rows.len();
            let index = self.hand as u32;
            let row = &mut self.rows[self.hand];
            if !row.is_live() {
                continue;
            }
            row.hits = (row.hits / 2).max(u32::from(row.children > 0));
            let hits = row.hits;
            let (before, was) = (row.successors.capacity(), row.successors.len());
            row.successors.retain_mut(|s| {
                s.count = (s.count / 2).min(hits);
                if s.count == 0 {
                    urls.release(s.url);
                }
                s.count > 0
            });
            if row.successors.len() < was {
                row.successors.shrink_to_fit();
            }
            self.places -= before - row.successors.capacity();
            self.mark(index);
            if hits == 0 {
                self.remove(index, urls);
            }
        }
    }

    fn remove(&mut self, index: u32, urls: &mut Urls) {
        let row = &mut self.rows[index as usize];
        let (parent, url) = (row.parent, row.url);
        row.generation = row.generation.wrapping_add(1);
        self.by_key.remove(&(parent, url));
        self.free.push(index);
        urls.release(url);
        if parent != ROOT {
            self.rows[parent as usize].children -= 1;
        }
    }

    /// As it was kept, parents first. False: it speaks of what is not there.
    pub fn restore(&mut self, index: u32, row: crate::ContextRow, urls: &mut Urls) -> bool {
        let known = |url| urls.exists(url);
        let parent = row.parent == ROOT || self.rows.get(row.parent as usize).is_some_and(Context::is_live);
        let fresh = self.rows.get(index as usize).is_none_or(|r| !r.is_live());
        let counts = row
            .successors
            .iter()
            .all(|&(url, count)| known(url) && (1..=row.hits).contains(&count));
        if !parent || !fresh || !counts || !known(row.url) || row.hits == 0 || self.find(row.parent, row.url).is_some()
        {
            return false;
        }
        self.place(index, row.parent, row.url, urls);
        let context = &mut self.rows[index as usize];
        context.hits = row.hits;
        context.successors = row
            .successors
            .iter()
            .map(|&(url, count)| Successor { url, count })
            .collect();
        context.successors.sort_by_key(|s| std::cmp::Reverse(s.count));
        context.successors.shrink_to_fit();
        self.places += context.successors.capacity();
        for &(url, _) in &row.successors {
            urls.retain(url);
        }
        true
    }

    /// After the last restored row.
    pub fn restored(&mut self) {
        self.free = (0..self.rows.len() as u32)
            .rev()
            .filter(|&i| !self.row(i).is_live())
            .collect();
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
