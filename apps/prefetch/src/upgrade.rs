// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A connection that becomes a WebSocket: passed both ways until one side ends it, or both are silent.

use std::io;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderValue, CONNECTION, UPGRADE};
use hyper::upgrade::{on, OnUpgrade};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::time::timeout;

/// The only protocol that passes: others (h2c) would carry requests that no rule here sees.
const WEBSOCKET: &str = "websocket";
const BUFFER: usize = 8 << 10;

fn names_websocket(headers: &HeaderMap) -> bool {
    let values = headers.get_all(UPGRADE).iter().filter_map(|v| v.to_str().ok());
    values
        .flat_map(|v| v.split(','))
        .any(|token| token.trim().eq_ignore_ascii_case(WEBSOCKET))
}

/// That a browser wants a WebSocket.
pub struct Wish(OnUpgrade);

impl Wish {
    /// Reads it off a request before [`crate::upstream::forward`] removes it.
    pub fn of(request: &mut Request<Incoming>) -> Option<Self> {
        names_websocket(request.headers()).then(|| Self(on(request)))
    }

    pub fn put(&self, request: &mut Request<Incoming>) {
        let headers = request.headers_mut();
        headers.insert(UPGRADE, HeaderValue::from_static(WEBSOCKET));
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    }
}

/// Once the site has agreed; `place` is dropped when the WebSocket ends. False: the site changes to another protocol than
/// the browser wished.
pub fn grant(wish: Option<Wish>, reply: &mut Response<Incoming>, place: impl Send + 'static, idle: Duration) -> bool {
    if reply.status() != StatusCode::SWITCHING_PROTOCOLS {
        return true;
    }
    let Some(Wish(browser)) = wish.filter(|_| names_websocket(reply.headers())) else {
        return false;
    };
    let server = on(reply);
    tokio::spawn(async move {
        if let (Ok(browser), Ok(server)) = (browser.await, server.await) {
            pass_both_ways(TokioIo::new(browser), TokioIo::new(server), idle).await;
        }
        drop(place);
    });
    true
}

async fn pass_both_ways(browser: impl AsyncRead + AsyncWrite, server: impl AsyncRead + AsyncWrite, idle: Duration) {
    let (from_browser, to_browser) = tokio::io::split(browser);
    let (from_server, to_server) = tokio::io::split(server);
    let passed = Notify::new();
    let both = async {
        tokio::try_join!(
            pass(from_browser, to_server, &passed),
            pass(from_server, to_browser, &passed)
        )
    };
    let silence = async { while timeout(idle, passed.notified()).await.is_ok() {} };
    tokio::select! {
        // How it ends is its own affair.
        _ = both => {}
        () = silence => {}
    }
}

async fn pass(from: impl AsyncRead, to: impl AsyncWrite, passed: &Notify) -> io::Result<()> {
    let (mut from, mut to) = (std::pin::pin!(from), std::pin::pin!(to));
    let mut bytes = vec![0; BUFFER];
    loop {
        let n = from.read(&mut bytes).await?;
        if n == 0 {
            return to.shutdown().await;
        }
        passed.notify_one();
        to.write_all(&bytes[..n]).await?;
    }
}
