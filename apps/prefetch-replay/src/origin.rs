// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-replay serve`: the site of a log, which says of everything that browsers may keep it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use netnice_output::complain;
use netnice_prefetch_predictor::log::is_page;
use tokio::net::TcpListener;

use crate::lane::split;
use crate::options::Serve;
use crate::play::open;
use crate::trace::records;

/// Where the log does not say how much, as with 304.
const USUAL: u64 = 8 << 10;
/// However much a log says.
const LARGEST: u64 = 64 << 20;

/// Sizes by path, and bytes for the largest.
#[derive(Debug)]
pub struct Site {
    sizes: HashMap<String, u64>,
    filler: Bytes,
}

impl Site {
    /// Of all that the logs name; where sizes differ the largest, since others were cut short.
    pub fn read(logs: &[PathBuf]) -> anyhow::Result<Self> {
        let mut sizes = HashMap::new();
        for log in logs {
            let (records, _) = records(open(log)?).with_context(|| format!("cannot read the log {}", log.display()))?;
            for record in records {
                let size = sizes.entry(split(&record.url).1.to_owned()).or_insert(0);
                *size = record.bytes.min(LARGEST).max(*size);
            }
        }
        for size in sizes.values_mut().filter(|s| **s == 0) {
            *size = USUAL;
        }
        let largest = sizes.values().max().copied().unwrap_or(0);
        let filler = Bytes::from(vec![b'.'; largest as usize]);
        Ok(Self { sizes, filler })
    }

    fn answer(&self, path: &str) -> Response<Full<Bytes>> {
        let Some(size) = self.sizes.get(path) else {
            let mut reply = Response::new(Full::from("no such URL in the log\n"));
            *reply.status_mut() = StatusCode::NOT_FOUND;
            return reply;
        };
        let kind = match is_page(path) {
            true => "text/html",
            false => "application/octet-stream",
        };
        let mut reply = Response::new(Full::new(self.filler.slice(..*size as usize)));
        let headers = reply.headers_mut();
        headers.insert(CONTENT_TYPE, kind.parse().expect("plain text"));
        let keep = "public, max-age=86400".parse().expect("plain text");
        headers.insert(CACHE_CONTROL, keep);
        reply
    }
}

pub fn run(options: &Serve) -> anyhow::Result<()> {
    let site = Arc::new(Site::read(&options.logs)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(options.listen)
            .await
            .with_context(|| format!("cannot listen on {}", options.listen))?;
        let (count, address) = (site.sizes.len(), listener.local_addr()?);
        complain(format!("{count} URLs are on http://{address}"));
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let site = site.clone();
            tokio::spawn(async move {
                let answer = |request: Request<_>| {
                    let path = request.uri().path_and_query().map_or("/", |p| p.as_str());
                    std::future::ready(Ok::<_, Infallible>(site.answer(path)))
                };
                let serving = http1::Builder::new();
                // How a connection ends is its client's affair.
                let _ = serving.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
            });
        }
    })
}
