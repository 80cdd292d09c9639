// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! How a page tells a browser what to prefetch. URLs are plain ([`crate::rules::is_plain`]): none needs escaping but `&`.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue, LINK};
use lol_html::html_content::ContentType;
use lol_html::send::{HtmlRewriter, Settings};
use lol_html::{element, OutputSink};
use percent_encoding::{percent_decode_str, utf8_percent_encode, AsciiSet, CONTROLS};
use serde_json::json;

use crate::rules::{is_plain, OWN};

static SPECULATION_RULES: HeaderName = HeaderName::from_static("speculation-rules");
/// What would end one URL of several in a query.
const JOINED: &AsciiSet = &CONTROLS.add(b'%').add(b'&').add(b'#').add(b'+').add(b'"');
/// Its file, below [`OWN`].
pub const RULES: &str = "rules.json";
/// Its file, below [`OWN`].
pub const CLICK: &str = "click.js";
const MOST_RULES: usize = 10;

/// Pressing on a link takes the hints back: Chromium lets no navigation wait for a prefetch whose element is gone. The
/// click itself is too late, since its navigation mostly joins the prefetch before that is given up.
pub const CLICK_SCRIPT: &str = "['pointerdown', 'click'].forEach(function (kind) {
  addEventListener(kind, function (event) {
    if (kind == 'pointerdown' && !event.composedPath().some(function (at) { return at.href; })) return;
    document.querySelectorAll('link[data-netnice]').forEach(function (hint) { hint.remove(); });
  }, true);
});
";

pub fn add_links(headers: &mut HeaderMap, urls: &[String]) {
    for url in urls {
        if let Ok(value) = HeaderValue::from_str(&format!("<{url}>; rel=prefetch")) {
            headers.append(LINK, value);
        }
    }
}

/// The browser fetches the rules from us, since a header has no room for them.
pub fn add_speculation(headers: &mut HeaderMap, urls: &[String]) {
    let joined: Vec<String> = urls
        .iter()
        .map(|url| utf8_percent_encode(url, JOINED).to_string())
        .collect();
    if let Ok(value) = HeaderValue::from_str(&format!("\"{OWN}{RULES}?{}\"", joined.join("&"))) {
        headers.append(SPECULATION_RULES.clone(), value);
    }
}

/// The rules that [`add_speculation`] asks for; URLs that no hint of ours would name are left out.
pub fn rules(query: &str) -> String {
    let decoded = query
        .split('&')
        .filter_map(|url| percent_decode_str(url).decode_utf8().ok());
    let urls: Vec<_> = decoded.filter(|url| is_plain(url)).take(MOST_RULES).collect();
    json!({ "prefetch": [{ "source": "list", "urls": urls, "eagerness": "immediate" }] }).to_string()
}

/// For the head of a page.
pub fn elements(urls: &[String]) -> String {
    let links = urls.iter().map(|url| {
        let url = url.replace('&', "&amp;");
        format!("<link rel=\"prefetch\" href=\"{url}\" data-netnice>")
    });
    let script = format!("<script src=\"{OWN}{CLICK}\" async></script>");
    links.chain([script]).collect()
}

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
