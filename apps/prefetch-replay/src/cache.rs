// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One client's cache: what it has, how it came by it, and whether that was of use.

use lru::LruCache;

/// Of a reply, all that a replay needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub bytes: u64,
    /// To prefetch once the user is there.
    pub hints: Vec<String>,
    /// It was prefetched, and nobody has asked for it yet.
    pub unused: bool,
}

/// What is used least is forgotten when it is full.
#[derive(Debug)]
pub struct Cache {
    entries: LruCache<String, Kept>,
    bytes: u64,
    most: u64,
    /// Prefetched bytes that were forgotten before anybody asked for them.
    forgotten_unused: u64,
}

impl Cache {
    pub fn new(most: u64) -> Self {
        Self {
            entries: LruCache::unbounded(),
            bytes: 0,
            most,
            forgotten_unused: 0,
        }
    }

    pub fn has(&self, url: &str) -> bool {
        self.entries.contains(url)
    }

    /// The user asks for it. Gives what it was until now.
    pub fn take(&mut self, url: &str) -> Option<Kept> {
        let kept = self.entries.get_mut(url)?;
        let was = kept.clone();
        kept.unused = false;
        Some(was)
    }

    pub fn put(&mut self, url: &str, kept: Kept) {
        self.bytes += kept.bytes;
        if let Some(old) = self.entries.put(url.to_owned(), kept) {
            self.forget(&old);
        }
        while self.bytes > self.most {
            let Some((_, old)) = self.entries.pop_lru() else {
                break;
            };
            self.forget(&old);
        }
    }

    fn forget(&mut self, old: &Kept) {
        self.bytes -= old.bytes;
        if old.unused {
            self.forgotten_unused += old.bytes;
        }
    }

    /// Prefetched bytes that nobody has asked for.
    pub fn unused(&self) -> u64 {
        let unused = self.entries.iter().filter(|(_, kept)| kept.unused);
        self.forgotten_unused + unused.map(|(_, kept)| kept.bytes).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: u64, unused: bool) -> Kept {
        Kept {
            bytes,
            hints: Vec::new(),
            unused,
        }
    }

    #[test]
    fn what_is_prefetched_is_of_use_once_asked_for() {
        let mut cache = Cache::new(100);
        cache.put("/a", kept(40, true));
        cache.put("/b", kept(40, true));
        assert_eq!(cache.unused(), 80);
        assert!(cache.take("/a").is_some_and(|k| k.unused));
        assert!(cache.take("/a").is_some_and(|k| !k.unused));
        assert_eq!(cache.unused(), 40);
        assert_eq!(cache.take("/c"), None);
    }

    #[test]
    fn the_least_used_makes_room() {
        let mut cache = Cache::new(100);
        cache.put("/a", kept(40, true));
        cache.put("/b", kept(40, true));
        cache.take("/a");
        cache.put("/c", kept(40, false));
        assert!(cache.has("/a") && !cache.has("/b") && cache.has("/c"));
        assert_eq!(cache.unused(), 40, "/b was for nothing");
        cache.put("/c", kept(50, false));
        assert!(cache.has("/a"), "/c is counted once");
    }
}
