// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A prefetch: refused before its first byte, or answered from a filled buffer on the background congestion control.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Incoming};
use hyper::{header, Request, Response, StatusCode};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::config::Mode;
use crate::hints;
use crate::metrics::Refusal;
use crate::proxy::{Asked, Peer, Proxy, Settings};
use crate::reply::Reply;
use crate::rules;
use crate::upstream::Upload;
use crate::visitors::Delivery;

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

pub async fn answer(
    proxy: &Arc<Proxy>,
    settings: &Arc<Settings>,
    peer: &Peer,
    mut request: Request<Incoming>,
) -> Result<Response<Reply>, Refusal> {
    let config = &settings.config;
    let asked = proxy
        .prepare(settings, peer, &mut request)
        .ok_or(Refusal::Upstream)?;
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
    if head.status == StatusCode::NOT_MODIFIED {
        return Ok(Response::from_parts(head, Reply::passed(body)));
    }
    if !matches!(head.status, StatusCode::OK | StatusCode::PARTIAL_CONTENT) {
        return Err(Refusal::Upstream);
    }
    let personal = rules::is_personal(&head.headers, asked.by_person);
    if personal || !rules::is_reusable(&head.headers, std::time::SystemTime::now()) {
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
