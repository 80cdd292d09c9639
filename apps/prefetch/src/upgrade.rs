// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! WebSockets and what else is no HTTP any more once both sides agree: bytes are passed both ways.

use hyper::body::Incoming;
use hyper::header::{HeaderValue, CONNECTION, UPGRADE};
use hyper::upgrade::{on, OnUpgrade};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;

/// What a browser wants to change to.
pub struct Wish {
    protocol: HeaderValue,
    browser: OnUpgrade,
}

/// Takes the wish out of a request before [`crate::upstream::forward`] removes it.
pub fn wish(request: &mut Request<Incoming>) -> Option<Wish> {
    let protocol = request.headers().get(UPGRADE)?.clone();
    Some(Wish {
        protocol,
        browser: on(request),
    })
}

impl Wish {
    pub fn put(&self, request: &mut Request<Incoming>) {
        request.headers_mut().insert(UPGRADE, self.protocol.clone());
        request
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("upgrade"));
    }

    /// Once both have agreed.
    pub fn grant(self, reply: &mut Response<Incoming>) {
        if reply.status() != StatusCode::SWITCHING_PROTOCOLS {
            return;
        }
        let server = on(reply);
        tokio::spawn(async move {
            let (Ok(browser), Ok(server)) = (self.browser.await, server.await) else {
                return;
            };
            let (mut browser, mut server) = (TokioIo::new(browser), TokioIo::new(server));
            // Whoever ends it ends it for both.
            tokio::io::copy_bidirectional(&mut browser, &mut server)
                .await
                .ok();
        });
    }
}
