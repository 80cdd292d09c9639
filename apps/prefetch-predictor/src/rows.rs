// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a predictor has learned, as numbered rows for a store, and what of it has changed.

use serde::{Deserialize, Serialize};

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
