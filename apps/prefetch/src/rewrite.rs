// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Elements added to the head of a page while it passes.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use lol_html::html_content::ContentType;
use lol_html::send::{HtmlRewriter, Settings};
use lol_html::{element, OutputSink};

/// A page on its way. Where it cannot be read any further as HTML, the rest passes as it is.
pub struct Page {
    rewriter: Option<HtmlRewriter<'static, Sink>>,
    sink: Sink,
}

#[derive(Debug, Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl OutputSink for Sink {
    fn handle_chunk(&mut self, chunk: &[u8]) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend_from_slice(chunk);
    }
}

impl Sink {
    fn take(&self) -> Bytes {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }
}

impl Page {
    pub fn new(elements: String) -> Self {
        let sink = Sink::default();
        let mut done = false;
        let handler = element!("head", move |head| {
            if !std::mem::replace(&mut done, true) {
                head.prepend(&elements, ContentType::Html);
            }
            Ok(())
        });
        let settings = Settings {
            element_content_handlers: vec![handler],
            ..Settings::new_send()
        };
        let rewriter = Some(HtmlRewriter::new(settings, sink.clone()));
        Self { rewriter, sink }
    }

    pub fn write(&mut self, chunk: Bytes) -> Bytes {
        let Some(rewriter) = &mut self.rewriter else {
            return chunk;
        };
        if rewriter.write(&chunk).is_err() {
            self.rewriter = None;
        }
        self.sink.take()
    }

    pub fn end(&mut self) -> Bytes {
        if let Some(rewriter) = self.rewriter.take() {
            // It fails only where writing did.
            rewriter.end().ok();
        }
        self.sink.take()
    }
}
