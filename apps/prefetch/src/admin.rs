// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! For the operator: a status page, and `/metrics` for Prometheus.

use std::convert::Infallible;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use crate::proxy::{text, Proxy};
use crate::reply::Reply;

pub async fn serve(listener: TcpListener, proxy: Arc<Proxy>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        let proxy = proxy.clone();
        let service = service_fn(move |request| answer(proxy.clone(), request));
        tokio::spawn(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}

async fn answer(proxy: Arc<Proxy>, request: Request<Incoming>) -> Result<Response<Reply>, Infallible> {
    let (contexts, urls, bytes) = proxy.learner.size();
    proxy.metrics.contexts.set(contexts as i64);
    proxy.metrics.urls.set(urls as i64);
    proxy.metrics.learned.set(bytes as i64);
    let (kind, body) = match request.uri().path() {
        "/" => ("text/html; charset=utf-8", page(&proxy)),
        "/metrics" => (
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            proxy.metrics.text(),
        ),
        _ => return Ok(text(StatusCode::NOT_FOUND, "here are / and /metrics")),
    };
    let mut reply = Response::new(Reply::whole(body));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(reply)
}

fn page(proxy: &Proxy) -> String {
    let m = &proxy.metrics;
    let settings = proxy.settings.load();
    let (contexts, urls, bytes) = proxy.learner.size();
    let (prefetched, wasted) = (m.prefetched.get(), m.wasted.get());
    let share = |part: u64, all: u64| {
        if all == 0 {
            0.0
        } else {
            part as f64 / all as f64 * 100.0
        }
    };
    let rows = [
        ("site", settings.config.upstream.to_string()),
        (
            "prefetches are sent by",
            settings
                .background
                .clone()
                .unwrap_or_else(|| format!("{}, as everything", settings.foreground)),
        ),
        ("open connections", m.connections.get().to_string()),
        ("hints given", m.hints.get().to_string()),
        ("prefetched", format!("{prefetched} bytes")),
        (
            "prefetched pages seen to be used",
            format!(
                "{} ({:.0} % of hints)",
                m.used.get(),
                share(m.used.get(), m.hints.get())
            ),
        ),
        (
            "for nothing",
            format!("{wasted} bytes ({:.0} %)", share(wasted, prefetched)),
        ),
        ("promoted: a visitor waited", m.promoted.get().to_string()),
        (
            "learned",
            format!("{contexts} contexts, {urls} URLs, {:.1} MB", bytes as f64 / 1e6),
        ),
    ];
    let rows: String = rows
        .iter()
        .map(|(name, value)| format!("<tr><th>{name}<td>{value}\n"))
        .collect();
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>netnice-prefetch</title>\
         <style>body{{font:16px/1.5 sans-serif;margin:2em}}th{{text-align:left;font-weight:normal;padding-right:2em}}</style>\
         <h1>netnice-prefetch</h1><table>{rows}</table><p><a href=/metrics>metrics</a>"
    )
}
