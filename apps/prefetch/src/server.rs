// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Listens, and gives each connection to hyper. HTTP/1.1 only: over h2 all replies would share one socket.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

use crate::config::Tls;
use crate::connections::{Connections, Place};
use crate::proxy::{Peer, Proxy, Settings};
use crate::socket::{self, Socket, Stream};
use crate::{Error, Result};

/// Where nothing more can be accepted: out of descriptors, say.
const REST: Duration = Duration::from_millis(100);
const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nCache-Control: no-store\r\n\
Content-Type: text/plain\r\nContent-Length: 21\r\n\r\ntoo many connections\n";
const MOST_UNREAD: u64 = 64 << 10;
/// For replies under way when the proxy is stopped.
const LAST_REPLIES: Duration = Duration::from_secs(10);

pub struct Server {
    pub proxy: Arc<Proxy>,
    pub tls: Arc<ArcSwapOption<TlsAcceptor>>,
    connections: Arc<Connections>,
    stopping: watch::Sender<bool>,
}

pub async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|e| Error::Listen(address, e))
}

impl Server {
    pub fn new(proxy: Arc<Proxy>, tls: Option<TlsAcceptor>) -> Self {
        Self {
            connections: Connections::new(proxy.metrics.connections.clone()),
            proxy,
            tls: Arc::new(ArcSwapOption::new(tls.map(Arc::new))),
            stopping: watch::Sender::new(false),
        }
    }

    pub async fn accept(&self, listener: &TcpListener) {
        let Ok((stream, from)) = listener.accept().await else {
            tokio::time::sleep(REST).await;
            return;
        };
        let settings = self.proxy.settings.load_full();
        let (limits, tls) = (&settings.config.limits, self.tls.load_full());
        let Some(place) = self
            .connections
            .take(from.ip(), limits.connections, limits.connections_per_address)
        else {
            self.proxy.metrics.turned_away.inc();
            if tls.is_none() {
                turn_away(stream);
            }
            return;
        };
        tokio::spawn(serve(
            self.proxy.clone(),
            settings,
            stream,
            from,
            tls,
            place,
            self.stopping.subscribe(),
        ));
    }

    /// Replies under way are sent, but not for ever.
    pub async fn stop(self) {
        self.stopping.send_replace(true);
        // Closed once no connection listens to it any more.
        timeout(LAST_REPLIES, self.stopping.closed()).await.ok();
    }
}

async fn serve(
    proxy: Arc<Proxy>,
    settings: Arc<Settings>,
    stream: TcpStream,
    from: SocketAddr,
    tls: Option<Arc<TlsAcceptor>>,
    place: Place,
    stopping: watch::Receiver<bool>,
) {
    // The peer may be gone already; reading will tell.
    stream.set_nodelay(true).ok();
    socket::set_congestion(&stream, &settings.foreground).ok();
    let limits = &settings.config.limits;
    let socket = Socket::new(stream);
    let plain = Stream::new(socket.clone(), limits.stall.into());
    let peer = Peer {
        address: from.ip().to_canonical(),
        socket,
        secure: tls.is_some(),
        _place: place,
    };
    match tls {
        None => converse(&proxy, &settings, plain, peer, stopping).await,
        Some(tls) => {
            let shaken = timeout(limits.head_time.into(), tls.accept(plain)).await;
            if let Ok(Ok(stream)) = shaken {
                converse(&proxy, &settings, stream, peer, stopping).await;
            }
        }
    }
}

/// What fits into a fresh socket; nothing waits for it.
fn turn_away(stream: TcpStream) {
    let Ok(mut stream) = stream.into_std() else { return };
    stream.write_all(TURNED_AWAY).ok();
    stream.shutdown(std::net::Shutdown::Write).ok();
    // A socket that is closed before its request is read resets the connection, and the answer may be lost.
    io::copy(&mut stream.take(MOST_UNREAD), &mut io::sink()).ok();
}

async fn converse(
    proxy: &Arc<Proxy>,
    settings: &Settings,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Peer,
    mut stopping: watch::Receiver<bool>,
) {
    let (proxy, peer) = (proxy.clone(), Arc::new(peer));
    let limits = &settings.config.limits;
    let service = service_fn(move |request| proxy.clone().answer(peer.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Some(limits.head_time.into()))
        .max_buf_size(limits.head.0 as usize)
        .max_headers(limits.headers)
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let stopped = async { stopping.wait_for(|stop| *stop).await.map(|_| ()).ok() };
    let left = tokio::select! {
        // How a browser leaves is its own affair.
        _ = connection.as_mut() => true,
        _ = stopped => false,
    };
    if !left {
        connection.as_mut().graceful_shutdown();
        connection.await.ok();
    }
}

pub fn acceptor(files: &Tls) -> Result<TlsAcceptor> {
    let wrong = |path: &Path, e: String| Error::Tls(path.to_owned(), e);
    let (certificate, key) = (&files.certificate, &files.key);
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|e| wrong(certificate, e.to_string()))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|e| wrong(key, e.to_string()))?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|e| wrong(certificate, e.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
