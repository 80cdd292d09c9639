// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A request's answer: refused, a page of the proxy's own, a prefetch, or what somebody waits for.

use std::convert::Infallible;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Version};

use crate::access::Log;
use crate::config::Mode;
use crate::metrics::{Purpose, Requests};
use crate::proxy::{text, Peer, Proxy};
use crate::reply::Reply;
use crate::{hints, prefetch, rules};

/// What no honest browser sends, and what two servers could read in two ways.
fn refusal(request: &Request<Incoming>) -> Option<StatusCode> {
    let headers = request.headers();
    let hosts = headers.get_all(header::HOST).iter().count();
    let lengths = headers.get_all(header::CONTENT_LENGTH).iter().count();
    let codings = headers.get_all(header::TRANSFER_ENCODING).iter().count();
    if *request.method() == Method::CONNECT || *request.method() == Method::TRACE {
        return Some(StatusCode::METHOD_NOT_ALLOWED);
    }
    let unclear = hosts > 1
        || (hosts == 0 && request.version() == Version::HTTP_11)
        || lengths > 1
        || codings > 1
        || (lengths > 0 && codings > 0)
        || (codings > 0 && request.version() == Version::HTTP_10)
        || !request.uri().path().starts_with('/');
    unclear.then_some(StatusCode::BAD_REQUEST)
}

impl Proxy {
    /// Never fails: what goes wrong is a status.
    pub async fn answer(
        self: Arc<Self>,
        peer: Arc<Peer>,
        request: Request<Incoming>,
    ) -> Result<Response<Reply>, Infallible> {
        let settings = self.settings.load_full();
        let is_prefetch = rules::is_prefetch(request.headers()) && request.method() == Method::GET;
        if !is_prefetch {
            peer.socket.hurry(&settings.foreground);
        }
        let path = request.uri().path_and_query().map_or("/", |p| p.as_str());
        let entry =
            |log: &Log| log.entry(peer.address, request.method().as_str(), path, is_prefetch);
        let mut entry = settings.log.as_ref().map(entry);
        let reply = if let Some(status) = refusal(&request) {
            let mut reply = text(status, "the request is not clear");
            // What follows it may be no request at all.
            reply
                .headers_mut()
                .insert(header::CONNECTION, HeaderValue::from_static("close"));
            reply
        } else if let Some(own) = path.strip_prefix(rules::OWN) {
            own_page(own)
        } else if is_prefetch && settings.config.prefetch.mode != Mode::Off {
            match prefetch::answer(&self, &settings, &peer, request).await {
                Ok(reply) => reply,
                Err(reason) => {
                    self.metrics.refuse(reason);
                    text(
                        StatusCode::SERVICE_UNAVAILABLE,
                        "not now: prefetches wait for a quieter moment",
                    )
                }
            }
        } else {
            self.demand(&settings, &peer, request, entry.as_mut()).await
        };
        let status = reply.status().as_u16();
        let purpose = if is_prefetch {
            Purpose::Prefetch
        } else {
            Purpose::Demand
        };
        self.metrics
            .requests
            .get_or_create(&Requests { purpose, status })
            .inc();
        if let Some(entry) = &mut entry {
            entry.line.status = status;
        }
        Ok(reply.map(|body| body.logged(entry)))
    }
}

fn own_page(path: &str) -> Response<Reply> {
    let (kind, body) = match path.split_once('?').unwrap_or((path, "")) {
        (hints::CLICK, _) => ("text/javascript", hints::CLICK_SCRIPT.to_owned()),
        (hints::RULES, query) => ("application/speculationrules+json", hints::rules(query)),
        _ => return text(StatusCode::NOT_FOUND, "no such page of the proxy"),
    };
    let mut reply = Response::new(Reply::whole(body));
    reply
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    reply.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("max-age=86400"),
    );
    reply
}
