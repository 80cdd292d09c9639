// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-measure serve`: the other end. Nothing is sent for a client that has not proved to know the token.

mod echo;
mod limits;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use echo::Sessions;
use limits::{Doorway, Tally};
use netnice_output::complain;
use socket2::{Domain, SockRef, Socket, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::congestion;
use crate::token::{nonce, Proof, Token};
use crate::wire::{self, Answer, Payload, Refusal, Request, Session};

pub use limits::{Ledger, Limits};

/// For the whole handshake; for the request after it.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// Connections that the kernel keeps for us, as many as it allows.
const BACKLOG: i32 = 4096;

/// A server that has its port.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

struct Shared {
    token: Token,
    ledger: Ledger,
    sessions: Sessions,
    connections: Semaphore,
    doorway: Mutex<Doorway>,
    tally: Mutex<Tally>,
}

impl Server {
    /// Takes the port, TCP and UDP. Must be called within a runtime.
    /// Another program has it, or this one may not have it.
    pub fn bind(address: SocketAddr, token: Token, limits: Limits) -> Result<Self> {
        let what = || format!("cannot listen at {address}");
        let listener = listener(address).with_context(what)?;
        let here = listener.local_addr()?;
        let socket = std::net::UdpSocket::bind(here).with_context(what)?;
        socket.set_nonblocking(true)?;
        let sessions = Sessions::default();
        tokio::spawn(echo::answer(UdpSocket::from_std(socket)?, sessions.clone()));
        let shared = Shared {
            token,
            ledger: Ledger::new(limits, Instant::now()),
            sessions,
            connections: Semaphore::new(limits.connections),
            doorway: Mutex::default(),
            tally: Mutex::default(),
        };
        Ok(Self {
            listener,
            shared: Arc::new(shared),
        })
    }

    /// Where it listens.
    /// The kernel does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves for ever.
    pub async fn run(self) {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => self.meet(stream, peer),
                // Out of descriptors, say: those in use come back.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    fn meet(&self, stream: TcpStream, peer: SocketAddr) {
        // What ends here ends at once, and leaves the kernel nothing to remember.
        SockRef::from(&stream).set_linger(Some(Duration::ZERO)).ok();
        let mut doorway = self.shared.doorway.lock().unwrap_or_else(PoisonError::into_inner);
        if !doorway.has_room(peer.ip()) {
            return self.shared.refused("too many of one address");
        }
        let (number, shared) = (doorway.number(), Arc::clone(&self.shared));
        let task = tokio::spawn(async move { shared.serve(number, stream, peer).await });
        doorway.enter(number, peer.ip(), task.abort_handle());
    }
}

impl Shared {
    async fn serve(&self, number: u64, mut stream: TcpStream, peer: SocketAddr) {
        let admitted = timeout(REQUEST_TIME, wire::admit(&mut stream, &self.token)).await;
        self.doorway
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .leave(number);
        match admitted {
            Ok(Ok(key)) => {
                // A known client may have what was sent to it.
                SockRef::from(&stream).set_linger(None).ok();
                // A client that goes away is no business of others.
                self.attend(&mut stream, peer, key).await.ok();
            }
            Ok(Err(Refusal::Token)) => {
                SockRef::from(&stream).set_linger(None).ok();
                self.refused("another token");
            }
            Ok(Err(Refusal::Stranger)) => self.refused("another protocol"),
            Ok(Err(Refusal::Io(_))) => self.refused("went away"),
            Err(_) => self.refused("said nothing for 5 s"),
        }
    }

    fn refused(&self, why: &'static str) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = tally.count(why, Instant::now()) {
            complain(line);
        }
    }

    async fn attend(&self, stream: &mut TcpStream, peer: SocketAddr, key: Proof) -> io::Result<()> {
        let request = timeout(REQUEST_TIME, wire::read(stream)).await??;
        let Ok(_slot) = self.connections.try_acquire() else {
            return refuse(
                stream,
                "the server is busy with as many connections as --connections allows",
            )
            .await;
        };
        match request {
            Request::Upload { bytes, seconds } => {
                let Some(grant) = self.grant(stream, bytes, seconds).await? else {
                    return Ok(());
                };
                take(stream, grant, &self.ledger).await
            }
            Request::Download {
                bytes,
                seconds,
                congestion,
            } => {
                if let Some(Err(e)) = congestion.map(|name| congestion::set(stream, &name)) {
                    return refuse(stream, &format!("at the server: {e}")).await;
                }
                let Some(grant) = self.grant(stream, bytes, seconds).await? else {
                    return Ok(());
                };
                give(stream, grant, &self.ledger).await
            }
            Request::Echo { seconds } => self.echo(stream, peer, key, seconds).await,
        }
    }

    async fn grant(&self, stream: &mut TcpStream, bytes: u64, seconds: f64) -> io::Result<Option<Grant>> {
        let Some((bytes, seconds)) = self.ledger.grant(bytes, seconds, Instant::now()) else {
            refuse(
                stream,
                "the server has moved what --daily allows; it goes on within 24 hours",
            )
            .await?;
            return Ok(None);
        };
        wire::write(stream, &Answer::Granted { bytes, seconds }).await?;
        Ok(Some(Grant { bytes, seconds }))
    }

    async fn echo(&self, stream: &mut TcpStream, peer: SocketAddr, key: Proof, seconds: f64) -> io::Result<()> {
        let Some((_, seconds)) = self.ledger.grant(0, seconds, Instant::now()) else {
            return refuse(
                stream,
                "the server has moved what --daily allows; it goes on within 24 hours",
            )
            .await;
        };
        let session = u64::from_be_bytes(nonce().map_err(io::Error::other)?);
        let _open = self.sessions.open(Session { number: session, key }, peer.ip());
        wire::write(stream, &Answer::Echo { session, seconds }).await?;
        // Until the client closes, or its time is over.
        timeout(Duration::from_secs_f64(seconds), stream.read_u8()).await.ok();
        Ok(())
    }
}

async fn refuse(stream: &mut TcpStream, why: &str) -> io::Result<()> {
    wire::write(stream, &Answer::Refused { why: why.into() }).await
}

/// For IPv6 and IPv4 alike, and again at once after a restart.
fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// A peer that has not moved a byte for so long is gone.
const STALLED: Duration = Duration::from_secs(60);
const CHUNK: usize = 64 * 1024;

/// What a transfer was granted.
#[derive(Debug, Clone, Copy)]
struct Grant {
    bytes: u64,
    seconds: f64,
}

/// Takes what comes, until it ends or is enough, and says how much that was.
/// The client is gone.
async fn take(stream: &mut TcpStream, grant: Grant, ledger: &Ledger) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let begun = Instant::now();
    let (mut bytes, mut last) = (0, begun);
    while bytes < grant.bytes && begun.elapsed().as_secs_f64() < grant.seconds {
        let reserved = ledger.reserve((grant.bytes - bytes).min(CHUNK as u64), last);
        let room = usize::try_from(reserved).unwrap_or(CHUNK);
        if room == 0 {
            break;
        }
        let read = timeout(STALLED, stream.read(&mut buffer[..room])).await;
        let moved = moved(&read);
        if moved > 0 {
            last = Instant::now();
        }
        bytes += moved;
        let wait = ledger.spend(reserved, moved, last);
        if read?? == 0 {
            break;
        }
        pause(wait).await;
    }
    let seconds = last.duration_since(begun).as_secs_f64();
    wire::write(stream, &wire::Answer::Arrived { bytes, seconds }).await?;
    stream.shutdown().await
}

/// Sends what was granted once the client says so, and closes.
/// The client is gone.
async fn give(stream: &mut TcpStream, grant: Grant, ledger: &Ledger) -> io::Result<()> {
    let payload = Payload::new(CHUNK);
    timeout(STALLED, stream.read_u8()).await??;
    let begun = Instant::now();
    let mut left = grant.bytes;
    while left > 0 && begun.elapsed().as_secs_f64() < grant.seconds {
        let reserved = ledger.reserve(left.min(CHUNK as u64), Instant::now());
        let room = usize::try_from(reserved).unwrap_or(CHUNK);
        if room == 0 {
            break;
        }
        let written = timeout(STALLED, stream.write(&payload.bytes()[..room])).await;
        let moved = moved(&written);
        left -= moved;
        let wait = ledger.spend(reserved, moved, Instant::now());
        written??;
        pause(wait).await;
    }
    stream.shutdown().await
}

/// Bytes that a read or a write moved; a peer that is gone moved none.
fn moved<T>(done: &Result<io::Result<usize>, T>) -> u64 {
    done.as_ref()
        .ok()
        .and_then(|done| done.as_ref().ok())
        .map_or(0, |&moved| moved as u64)
}

async fn pause(wait: Duration) {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}
