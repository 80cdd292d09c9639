// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A request's answer: refused, a page of the proxy's own, a prefetch, or what a user waits for.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Version};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::access::Log;
use crate::config::Mode;
use crate::metrics::{Purpose, Refusal, Requests};
use crate::proxy::{text, Asked, Peer, Proxy, Settings};
use crate::reply::Reply;
use crate::upstream::Upload;
use crate::visitors::Delivery;
use crate::{hints, rules};

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
        let entry = |log: &Log| log.entry(peer.address, request.method().as_str(), path, is_prefetch);
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
            match prefetched(&self, &settings, &peer, request).await {
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
        self.metrics.requests.get_or_create(&Requests { purpose, status }).inc();
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
    reply
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("max-age=86400"));
    reply
}

/// How often a delivery is looked at: first so soon, then ever more seldom.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const LAST_LOOK: Duration = Duration::from_millis(250);
/// After its promotion a delivery is given up.
const LONGEST: Duration = Duration::from_secs(120);

/// A prefetch under way; forgotten wherever it ends.
struct UnderWay {
    proxy: Arc<Proxy>,
    delivery: Arc<Delivery>,
    arrived: u64,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let wasted = self.proxy.visitors.end(&self.delivery, self.arrived);
        self.proxy.metrics.wasted.inc_by(wasted);
    }
}

async fn prefetched(
    proxy: &Arc<Proxy>,
    settings: &Arc<Settings>,
    peer: &Peer,
    mut request: Request<Incoming>,
) -> Result<Response<Reply>, Refusal> {
    let config = &settings.config;
    let asked = proxy.prepare(settings, peer, &mut request).ok_or(Refusal::Upstream)?;
    // No click, no credentials: a prefetch must not act in a user's name.
    for name in [header::COOKIE, header::AUTHORIZATION] {
        request.headers_mut().remove(name);
    }
    if asked.saves_data {
        return Err(Refusal::SaveData);
    }
    if proxy.demand.load(std::sync::atomic::Ordering::Relaxed) >= config.prefetch.busy {
        return Err(Refusal::Busy);
    }
    let most = config.prefetch.outstanding;
    let delivery = proxy
        .visitors
        .begin(asked.client, &asked.url, &peer.socket, most)
        .ok_or(Refusal::Outstanding)?;
    let mut under_way = UnderWay {
        proxy: proxy.clone(),
        delivery,
        arrived: 0,
    };
    tokio::time::sleep(proxy.pause(asked.client)).await;

    let limits = &config.limits;
    let request = request.map(|body| Upload::new(body, limits.stall.into()));
    let time_limit = limits.reply_time.into();
    let reply = proxy
        .upstream
        .ask(request, time_limit)
        .await
        .map_err(|_| Refusal::Upstream)?;
    let (mut head, body) = reply.into_parts();
    let now = std::time::SystemTime::now();
    if rules::is_for_everybody(head.status, &head.headers, now) == Some(false) {
        proxy.learner.withdraw(&asked.url);
    }
    if head.status == StatusCode::NOT_MODIFIED {
        return Ok(Response::from_parts(head, Reply::passed(body)));
    }
    if !matches!(head.status, StatusCode::OK | StatusCode::PARTIAL_CONTENT) {
        return Err(Refusal::Upstream);
    }
    let personal = rules::is_personal(&head.headers, asked.by_person);
    if personal || !rules::is_reusable(&head.headers, now) {
        return Err(Refusal::NotReusable);
    }
    let (body, room) = fill(proxy, settings, body, time_limit).await?;
    let bytes = body.len() as u64;
    if head.status == StatusCode::OK && rules::is_html(&head.headers) {
        // They count once the user has come here.
        add_hints(proxy, settings, &asked, &mut head.headers);
    }
    head.headers.insert(header::CONTENT_LENGTH, bytes.into());
    if let Some(background) = &settings.background {
        peer.socket.yield_to_all(background);
    }
    proxy.metrics.prefetched.inc_by(bytes);
    under_way.arrived = bytes;
    let reply = Reply::whole(body).delivered(under_way.delivery.clone());
    tokio::spawn(watch(under_way, settings.clone(), room));
    Ok(Response::from_parts(head, reply))
}

/// All of it in memory, so that a slow browser holds nothing at the site's server.
async fn fill(
    proxy: &Proxy,
    settings: &Settings,
    body: Incoming,
    time_limit: Duration,
) -> Result<(Bytes, OwnedSemaphorePermit), Refusal> {
    let largest = settings.config.prefetch.size.0;
    let size = body.size_hint().exact().unwrap_or(largest);
    if size > largest {
        return Err(Refusal::Size);
    }
    let kilobytes = size.div_ceil(1024) as u32;
    let room = proxy
        .buffers
        .clone()
        .try_acquire_many_owned(kilobytes)
        .map_err(|_| Refusal::Memory)?;
    match timeout(time_limit, Limited::new(body, largest as usize).collect()).await {
        Ok(Ok(all)) => Ok((all.to_bytes(), room)),
        Ok(Err(e)) if e.is::<http_body_util::LengthLimitError>() => Err(Refusal::Size),
        _ => Err(Refusal::Upstream),
    }
}

fn add_hints(proxy: &Proxy, settings: &Settings, asked: &Asked, headers: &mut header::HeaderMap) {
    let mode = settings.config.prefetch.mode;
    let most = settings.config.prefetch.hints();
    if matches!(mode, Mode::Link | Mode::Rewrite) {
        let urls = proxy.learner.predict_after(&asked.url, most);
        hints::add_links(headers, &urls);
        proxy.metrics.hints.inc_by(urls.len() as u64);
    }
}

/// Until it has arrived. Late, it is sent as if demanded: a click in Chromium waits for it and asks nothing.
async fn watch(under_way: UnderWay, settings: Arc<Settings>, room: OwnedSemaphorePermit) {
    let (began, mut look) = (Instant::now(), FIRST_LOOK);
    let deadline = settings.config.prefetch.deadline.into();
    let delivery = &under_way.delivery;
    while !delivery.has_arrived() && began.elapsed() < LONGEST {
        tokio::time::sleep(look).await;
        look = (look * 2).min(LAST_LOOK);
        if began.elapsed() > deadline && delivery.socket.hurry(&settings.foreground) {
            under_way.proxy.metrics.promoted.inc();
        }
    }
    drop(room);
}
