// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The proxy from its start to its end.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::net::TcpListener;
use tokio::signal::unix::{signal, Signal, SignalKind};
use tokio::sync::Semaphore;

use crate::access::Log;
use crate::config::{Config, Mode, Preset};
use crate::learner::Learner;
use crate::options::Serve;
use crate::proxy::{Proxy, Settings};
use crate::server::{listen, Server};
use crate::store::Store;
use crate::{admin, descriptors, server, socket, Error, Result};
use netnice_output::complain;

pub fn serve(options: &Serve) -> Result<()> {
    let config = options.read()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Error::Start)?;
    runtime.block_on(run(options, config))
}

async fn run(options: &Serve, config: Config) -> Result<()> {
    let mut signals = Signals::new()?;
    let mut listeners = Vec::new();
    for address in &config.listen {
        listeners.push(listen(*address).await?);
    }
    let acceptor = config.tls.as_ref().map(server::acceptor).transpose()?;
    let settings = settings(config)?;
    let config = &settings.config;
    descriptors::allow(config.limits.connections);
    let learner = Learner::start(&config.prefetch, store(config)?)?;
    let buffers = Semaphore::new((config.prefetch.buffers.0 / 1024) as usize);
    let admin = config.admin;
    let upstream = config.upstream.clone();
    let proxy = Arc::new(Proxy {
        settings: ArcSwap::from_pointee(settings),
        upstream: Default::default(),
        learner,
        visitors: Default::default(),
        metrics: Default::default(),
        buffers: Arc::new(buffers),
        demand: Default::default(),
    });
    if let Some(address) = admin {
        let listener = listen(address).await?;
        complain(format!("status and metrics on http://{}", address_of(&listener)?));
        tokio::spawn(admin::serve(listener, proxy.clone()));
    }
    let scheme = if acceptor.is_some() { "https" } else { "http" };
    let server = Arc::new(Server::new(proxy.clone(), acceptor));
    let mut accepting = tokio::task::JoinSet::new();
    for listener in listeners {
        complain(format!("{upstream} is on {scheme}://{}", address_of(&listener)?));
        let server = server.clone();
        accepting.spawn(async move {
            loop {
                server.accept(&listener).await;
            }
        });
    }
    while signals.reload().await {
        match reload(options, &server) {
            Ok(()) => complain("settings read again"),
            Err(e) => complain(format!("settings stay as they were: {e}")),
        }
    }
    accepting.shutdown().await;
    if let Some(server) = Arc::into_inner(server) {
        server.stop().await;
    }
    if let Some(log) = &proxy.settings.load().log {
        log.flush();
    }
    proxy.learner.stop();
    Ok(())
}

fn address_of(listener: &TcpListener) -> Result<std::net::SocketAddr> {
    listener.local_addr().map_err(Error::Start)
}

/// None: the user chose so, or another proxy has it; then what is learned ends with this one.
fn store(config: &Config) -> Result<Option<Store>> {
    if config.prefetch.mode == Mode::Off {
        return Ok(None);
    }
    match config.store.as_deref().map(Store::open).transpose() {
        Err(e @ Error::StoreInUse(_)) => {
            complain(format!("{e}; until then what is learned is not kept"));
            Ok(None)
        }
        done => done,
    }
}

/// Settles what depends on this kernel.
fn settings(mut config: Config) -> Result<Settings> {
    let background = socket::first_available(&config.prefetch.background);
    let foreground = match &config.prefetch.foreground {
        Some(name) => name.clone(),
        None => socket::system_congestion().map_err(Error::Start)?,
    };
    if socket::first_available(std::slice::from_ref(&foreground)).is_none() {
        return Err(Error::Setting(format!(
            "the kernel has no congestion control '{foreground}' for prefetch.foreground"
        )));
    }
    if background.is_none() && config.prefetch.mode != Mode::Off {
        config.prefetch.preset = Preset::Conservative;
        let names = config.prefetch.background.join(", ");
        complain(format!(
            "the kernel has none of: {names}. Prefetches compete with everything else, so only likely pages are told \
             (conservative), after a pause. Run 'sudo netnicectl up', then SIGHUP"
        ));
    }
    let log = config.access_log.as_deref().map(Log::open).transpose()?;
    Ok(Settings {
        config,
        foreground,
        background,
        log,
    })
}

fn reload(options: &Serve, server: &Server) -> Result<()> {
    let config = options.read()?;
    let before = server.proxy.settings.load_full();
    let acceptor = config.tls.as_ref().map(server::acceptor).transpose()?;
    let fixed = |c: &Config| {
        (
            c.listen.clone(),
            c.admin,
            c.store.clone(),
            c.tls.is_some(),
            c.prefetch.memory,
            c.prefetch.buffers,
        )
    };
    if fixed(&config) != fixed(&before.config) {
        complain("listen, admin, store, memory, buffers and whether there is TLS change with the next start only");
    }
    let settings = settings(config)?;
    descriptors::allow(settings.config.limits.connections);
    server.proxy.learner.configure(&settings.config.prefetch)?;
    if before.config.tls.is_some() && acceptor.is_some() {
        server.tls.store(acceptor.map(Arc::new));
    }
    server.proxy.settings.store(Arc::new(settings));
    Ok(())
}

struct Signals {
    again: Signal,
    end: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> Result<Self> {
        let on = |kind| signal(kind).map_err(Error::Start);
        Ok(Self {
            again: on(SignalKind::hangup())?,
            end: on(SignalKind::terminate())?,
            interrupt: on(SignalKind::interrupt())?,
        })
    }

    /// Waits; false when it is time to end.
    async fn reload(&mut self) -> bool {
        tokio::select! {
            _ = self.again.recv() => true,
            _ = self.end.recv() => false,
            _ = self.interrupt.recv() => false,
        }
    }
}
