// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The site's own server: requests on their way to it.

use std::net::IpAddr;
use std::pin::Pin;
use std::task::{ready, Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{timeout, Sleep};

/// Shorter than any server's: a connection that it closes meanwhile would cost a request.
const IDLE: Duration = Duration::from_secs(4);
const MOST_IDLE: usize = 256;
const CONNECT: Duration = Duration::from_secs(10);

/// Between two neighbours only (RFC 9110, 7.6.1), beside what `Connection` names.
static HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
];
static FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
static FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
static FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

#[derive(Debug, Clone)]
pub struct Upstream(Client<HttpConnector, Upload>);

impl Default for Upstream {
    fn default() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT));
        let mut builder = Client::builder(TokioExecutor::new());
        builder
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MOST_IDLE);
        Self(builder.build(connector))
    }
}

impl Upstream {
    /// The reply, or the status that says why there is none.
    pub async fn ask(&self, request: Request<Upload>, time_limit: Duration) -> Result<Response<Incoming>, StatusCode> {
        match timeout(time_limit, self.0.request(request)).await {
            Ok(Ok(mut reply)) => {
                if reply.status() != StatusCode::SWITCHING_PROTOCOLS {
                    remove_hop_by_hop(reply.headers_mut());
                }
                *reply.version_mut() = Version::HTTP_11;
                Ok(reply)
            }
            Ok(Err(_)) => Err(StatusCode::BAD_GATEWAY),
            Err(_) => Err(StatusCode::GATEWAY_TIMEOUT),
        }
    }
}

/// Makes a browser's request the proxy's own. `None`: no such address can be.
pub fn forward(request: &mut Request<Incoming>, to: &Uri, from: IpAddr, secure: bool) -> Option<()> {
    let path = request.uri().path_and_query().map_or("/", |p| p.as_str()).to_owned();
    if let Some(authority) = request.uri().authority() {
        // The target's host counts, not the header's (RFC 9112, 3.2.2).
        let host = HeaderValue::from_str(authority.as_str()).ok()?;
        request.headers_mut().insert(header::HOST, host);
    }
    let authority = to.authority()?.clone();
    *request.uri_mut() = Uri::builder()
        .scheme("http")
        .authority(authority)
        .path_and_query(path)
        .build()
        .ok()?;
    *request.version_mut() = Version::HTTP_11;
    let headers = request.headers_mut();
    remove_hop_by_hop(headers);
    let host = headers.get(header::HOST).cloned();
    headers.insert(FORWARDED_FOR.clone(), HeaderValue::from_str(&from.to_string()).ok()?);
    headers.insert(
        FORWARDED_PROTO.clone(),
        HeaderValue::from_static(if secure { "https" } else { "http" }),
    );
    if let Some(host) = host {
        headers.insert(FORWARDED_HOST.clone(), host);
    }
    Some(())
}

pub fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let lines = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|v| v.to_str().ok());
    let names = lines.flat_map(|line| line.split(','));
    let named: Vec<HeaderName> = names.filter_map(|n| n.trim().parse().ok()).collect();
    for name in named.iter().filter(|n| **n != header::HOST) {
        headers.remove(name);
    }
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
}

/// What a browser sends; fails once it has sent nothing for `time_limit`.
#[derive(Debug)]
pub struct Upload {
    body: Incoming,
    time_limit: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Upload {
    pub fn new(body: Incoming, time_limit: Duration) -> Self {
        Self {
            body,
            time_limit,
            stalled: None,
        }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.stalled = None;
            return Poll::Ready(frame.map(|f| f.map_err(Into::into)));
        }
        let time_limit = self.time_limit;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(time_limit)));
        ready!(std::future::Future::poll(stalled.as_mut(), cx));
        Poll::Ready(Some(Err("the browser sends nothing any more".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
