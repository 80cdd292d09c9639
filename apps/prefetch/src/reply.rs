// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The body of a reply, of any kind, with the counters that its end updates.

use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::task::{ready, Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::access::Entry;
use crate::hints::Page;
use crate::visitors::Delivery;

enum Kind {
    Passed(Incoming),
    Whole(Option<Bytes>),
    Rewritten(Incoming, Option<Box<Page>>),
}

/// A reply's body.
pub struct Reply {
    kind: Kind,
    sent: u64,
    entry: Option<Entry>,
    delivery: Option<Arc<Delivery>>,
}

impl Reply {
    fn of(kind: Kind) -> Self {
        Self {
            kind,
            sent: 0,
            entry: None,
            delivery: None,
        }
    }

    pub fn passed(body: Incoming) -> Self {
        Self::of(Kind::Passed(body))
    }

    pub fn whole(body: impl Into<Bytes>) -> Self {
        Self::of(Kind::Whole(Some(body.into())))
    }

    pub fn rewritten(body: Incoming, page: Page) -> Self {
        Self::of(Kind::Rewritten(body, Some(Box::new(page))))
    }

    #[must_use]
    pub fn logged(mut self, entry: Option<Entry>) -> Self {
        self.entry = entry;
        self
    }

    /// The delivery learns when hyper has passed all on, or given up.
    #[must_use]
    pub fn delivered(mut self, delivery: Arc<Delivery>) -> Self {
        self.delivery = Some(delivery);
        self
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let Some(delivery) = &self.delivery {
            delivery.handed_over.store(true, Ordering::Release);
        }
        if let Some(entry) = self.entry.take() {
            entry.end(self.sent);
        }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = match &mut self.kind {
            Kind::Passed(body) => ready!(Pin::new(body).poll_frame(cx)),
            Kind::Whole(body) => body.take().filter(|b| !b.is_empty()).map(|b| Ok(Frame::data(b))),
            Kind::Rewritten(body, page) => ready!(poll_page(body, page, cx)),
        };
        if let Some(data) = frame.as_ref().and_then(|f| f.as_ref().ok()?.data_ref()) {
            self.sent += data.len() as u64;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Passed(body) => body.is_end_stream(),
            Kind::Whole(body) => body.as_ref().is_none_or(Bytes::is_empty),
            Kind::Rewritten(_, page) => page.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Passed(body) => body.size_hint(),
            Kind::Whole(body) => SizeHint::with_exact(body.as_ref().map_or(0, |b| b.len() as u64)),
            Kind::Rewritten(..) => SizeHint::default(),
        }
    }
}

fn poll_page(
    body: &mut Incoming,
    page: &mut Option<Box<Page>>,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
    while let Some(rewriting) = page {
        let out = match ready!(Pin::new(&mut *body).poll_frame(cx)) {
            Some(Ok(frame)) => match frame.into_data() {
                Ok(chunk) => rewriting.write(chunk),
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            },
            Some(Err(e)) => return Poll::Ready(Some(Err(e))),
            None => {
                let rest = rewriting.end();
                *page = None;
                rest
            }
        };
        if !out.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(out))));
        }
    }
    Poll::Ready(None)
}
