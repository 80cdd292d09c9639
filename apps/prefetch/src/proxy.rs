// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The way of a request that a user waits for: to the site's server and back, with hints on pages.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use netnice_prefetch_predictor::log::is_page;
use tokio::sync::Semaphore;

use crate::access::{Entry, Log};
use crate::config::{Config, Mode};
use crate::connections::Place;
use crate::hints::Page;
use crate::learner::Learner;
use crate::metrics::Metrics;
use crate::reply::Reply;
use crate::socket::Socket;
use crate::upgrade::{grant, Wish};
use crate::upstream::{forward, Upload, Upstream};
use crate::visitors::Visitors;
use crate::{hints, rules};

/// What of the configuration may change while requests are answered.
#[derive(Debug)]
pub struct Settings {
    pub config: Config,
    pub foreground: String,
    /// None: the kernel has none of those asked for.
    pub background: Option<String>,
    pub log: Option<Log>,
}

/// The other end of a connection, as long as it lives: also as a WebSocket.
#[derive(Debug)]
pub struct Peer {
    pub address: IpAddr,
    pub socket: Arc<Socket>,
    pub secure: bool,
    /// Held, never read.
    pub _place: Place,
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.socket.close();
    }
}

#[derive(Debug)]
pub struct Proxy {
    pub settings: ArcSwap<Settings>,
    pub upstream: Upstream,
    pub learner: Learner,
    pub visitors: Visitors,
    pub metrics: Metrics,
    /// Kilobytes for replies that wait to be sent.
    pub buffers: Arc<Semaphore>,
    /// Demand requests that the site's server has not answered.
    pub demand: AtomicUsize,
}

/// A request, as far as the rules need it once it is on its way.
pub struct Asked {
    pub client: u64,
    pub network: u64,
    pub url: String,
    pub get: bool,
    pub saves_data: bool,
    pub by_person: bool,
    /// It reads speculation rules, and may: Chromium over TLS.
    speculates: bool,
}

pub fn text(status: StatusCode, text: &str) -> Response<Reply> {
    let mut reply = Response::new(Reply::whole(format!("{text}\n")));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

impl Proxy {
    /// Reads off a request what is needed later, and makes it one to the site's server.
    pub fn prepare(&self, settings: &Settings, peer: &Peer, request: &mut Request<Incoming>) -> Option<Asked> {
        let config = &settings.config;
        let headers = request.headers();
        let program = headers.get(header::USER_AGENT).map_or(&b""[..], HeaderValue::as_bytes);
        let asked = Asked {
            client: self.learner.clients.browser(peer.address, program),
            network: self.learner.clients.network(peer.address),
            url: request.uri().path_and_query().map_or("/", |p| p.as_str()).to_owned(),
            get: request.method() == Method::GET,
            saves_data: rules::saves_data(headers),
            by_person: rules::names_a_person(headers, &config.prefetch.harmless_cookies),
            speculates: peer.secure && headers.contains_key("sec-ch-ua"),
        };
        if config.prefetch.mode == Mode::Rewrite && asked.get && is_page(&asked.url) {
            // Only plain text can be rewritten.
            request.headers_mut().remove(header::ACCEPT_ENCODING);
        }
        forward(request, &config.upstream, peer.address, peer.secure)?;
        Some(asked)
    }

    pub async fn demand(
        &self,
        settings: &Settings,
        peer: &Arc<Peer>,
        mut request: Request<Incoming>,
        entry: Option<&mut Entry>,
    ) -> Response<Reply> {
        let wish = Wish::of(&mut request);
        let referrer = self.referrer(&request);
        let Some(asked) = self.prepare(settings, peer, &mut request) else {
            return text(StatusCode::BAD_REQUEST, "the request is not clear");
        };
        let watched = asked.get && settings.config.prefetch.mode != Mode::Off;
        let mut entry = entry;
        if watched {
            self.note(settings, &asked, referrer.as_deref(), entry.as_deref_mut());
        }
        if let Some(wish) = &wish {
            wish.put(&mut request);
        }
        let limits = &settings.config.limits;
        let request = request.map(|body| Upload::new(body, limits.stall.into()));
        let began = Instant::now();
        self.demand.fetch_add(1, Ordering::Relaxed);
        let reply = self.upstream.ask(request, limits.reply_time.into()).await;
        self.demand.fetch_sub(1, Ordering::Relaxed);
        self.metrics.reply.observe(began.elapsed().as_secs_f64());
        let mut reply = match reply {
            Ok(reply) => reply,
            Err(status) => return text(status, "the site's server does not answer"),
        };
        if !grant(wish, &mut reply, peer.clone(), limits.websocket_idle.into()) {
            return text(
                StatusCode::BAD_GATEWAY,
                "the site's server changes to a protocol that does not pass",
            );
        }
        let mut told = Vec::new();
        if watched {
            told = self.learn(settings, &asked, reply.status(), reply.headers());
        }
        let reply = self.tell(settings, &asked, reply, &told);
        if let Some(entry) = entry {
            entry.line.hints = told;
        }
        reply
    }

    fn referrer(&self, request: &Request<Incoming>) -> Option<String> {
        let value = |name| request.headers().get(name)?.to_str().ok();
        rules::own_referrer(value(header::REFERER)?, value(header::HOST)?).map(str::to_owned)
    }

    /// What the request tells about earlier prefetches.
    fn note(&self, settings: &Settings, asked: &Asked, referrer: Option<&str>, entry: Option<&mut Entry>) {
        let findings = self.visitors.demand(asked.client, &asked.url, referrer);
        for delivery in &findings.awaited {
            if delivery.socket.hurry(&settings.foreground) {
                self.metrics.promoted.inc();
            }
        }
        if let Some(used) = &findings.used {
            self.metrics.used.inc();
            if rules::is_plain(used) {
                self.learner.learn(asked.client, asked.network, used, true, None);
            }
        }
        self.metrics.wasted.inc_by(findings.wasted);
        if let Some(entry) = entry {
            entry.line.used = findings.used;
            entry.line.wasted = findings.wasted;
        }
    }

    /// Learns from a reply that is for every user; returns the hints for its client.
    fn learn(&self, settings: &Settings, asked: &Asked, status: StatusCode, reply: &HeaderMap) -> Vec<String> {
        let for_everybody = rules::is_for_everybody(status, reply, std::time::SystemTime::now());
        if for_everybody == Some(false) {
            self.learner.withdraw(&asked.url);
        }
        let whole = matches!(status, StatusCode::OK | StatusCode::NOT_MODIFIED);
        if !whole || !rules::is_plain(&asked.url) || rules::is_personal(reply, asked.by_person) {
            return Vec::new();
        }
        let page = if status == StatusCode::OK {
            rules::is_html(reply)
        } else {
            is_page(&asked.url)
        };
        // A user's cookies may have made the reply: it does not vouch for the URL.
        let reusable = for_everybody.filter(|all| !all || !asked.by_person);
        self.learner
            .learn(asked.client, asked.network, &asked.url, page, reusable);
        if !page || status != StatusCode::OK || asked.saves_data {
            return Vec::new();
        }
        let prefetch = &settings.config.prefetch;
        let most = prefetch.hints();
        let told = if most > prefetch.outstanding {
            self.learner.predict(asked.client, most)
        } else {
            let likely = self.learner.predict(asked.client, 4 * most);
            self.visitors.tell(asked.client, likely, most)
        };
        self.metrics.hints.inc_by(told.len() as u64);
        told
    }

    /// Puts hints on a reply, in the way that is configured.
    fn tell(&self, settings: &Settings, asked: &Asked, reply: Response<Incoming>, urls: &[String]) -> Response<Reply> {
        let (mut head, body) = reply.into_parts();
        if urls.is_empty() {
            return Response::from_parts(head, Reply::passed(body));
        }
        match settings.config.prefetch.mode {
            Mode::Speculation if asked.speculates => hints::add_speculation(&mut head.headers, urls),
            Mode::Rewrite if !head.headers.contains_key(header::CONTENT_ENCODING) => {
                for name in [header::CONTENT_LENGTH, header::ACCEPT_RANGES] {
                    head.headers.remove(name);
                }
                weaken(&mut head.headers);
                let page = Page::new(hints::elements(urls));
                return Response::from_parts(head, Reply::rewritten(body, page));
            }
            Mode::Off => {}
            _ => hints::add_links(&mut head.headers, urls),
        }
        Response::from_parts(head, Reply::passed(body))
    }

    /// How long a client's latest demand request must be past before it may prefetch.
    pub fn pause(&self, client: u64) -> Duration {
        let idle = self.visitors.idle(client).unwrap_or(Duration::MAX);
        self.learner.pause().saturating_sub(idle)
    }
}

/// What was rewritten is equal in meaning only.
fn weaken(headers: &mut HeaderMap) {
    let Some(tag) = headers.get(header::ETAG).and_then(|t| t.to_str().ok()) else {
        return;
    };
    if !tag.starts_with("W/") {
        if let Ok(weak) = HeaderValue::from_str(&format!("W/{tag}")) {
            headers.insert(header::ETAG, weak);
        }
    }
}
