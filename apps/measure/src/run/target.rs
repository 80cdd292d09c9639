// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The server, found anew for each connection: either end's address may have changed.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use thiserror::Error;
use tokio::net::{lookup_host, TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::action::{Direction, Flow};
use crate::congestion::{self, NotHere};
use crate::token::{Proof, Token};
use crate::wire::{self, Answer, Greeting, Request};

/// For a connection, and for each answer.
const ANSWER_TIME: Duration = Duration::from_secs(20);
/// Data that is not acknowledged for so long has no receiver.
const GONE: Duration = Duration::from_secs(30);

/// Why a measurement could not be made.
#[derive(Debug, Error)]
pub enum Trouble {
    #[error("cannot find {0}: {1}")]
    Unknown(String, io::Error),
    #[error("cannot connect to {0}: {1}; is 'netnice-measure serve' running there, and its port open?")]
    Unreachable(String, io::Error),
    #[error("{0}: {1}")]
    Stranger(String, Greeting),
    #[error("{0} says: {1}")]
    Refused(String, String),
    #[error("{0} vanished while {1}: {2}")]
    Vanished(String, &'static str, io::Error),
    #[error(transparent)]
    NotHere(#[from] NotHere),
}

impl Trouble {
    /// Would it be the same tomorrow, unless the user changes something?
    #[must_use]
    pub fn stays(&self) -> bool {
        matches!(
            self,
            Self::NotHere(_) | Self::Stranger(_, Greeting::Token | Greeting::Impostor)
        )
    }
}

/// A server and the token for it.
#[derive(Clone)]
pub struct Target {
    pub host: String,
    pub port: u16,
    pub token: Token,
}

impl Target {
    /// Connects, proves, asks, and gives what was granted.
    /// See [`Trouble`].
    pub async fn ask(
        &self,
        flow: Option<(&Flow, Direction)>,
        request: &Request,
    ) -> Result<(TcpStream, Proof, Answer), Trouble> {
        let mut stream = self.connect(flow).await?;
        let answered = timeout(ANSWER_TIME, async {
            let key = wire::greet(&mut stream, &self.token).await?;
            wire::write(&mut stream, request).await?;
            let answer = wire::read(&mut stream).await?;
            Ok((key, answer))
        });
        let answered = answered.await.unwrap_or_else(|e| Err(Greeting::Io(e.into())));
        match answered {
            Ok((_, Answer::Refused { why })) => Err(Trouble::Refused(self.host.clone(), why)),
            Ok((key, answer)) => Ok((stream, key, answer)),
            Err(Greeting::Io(e)) => Err(self.vanished("answering", e)),
            Err(e) => Err(Trouble::Stranger(self.host.clone(), e)),
        }
    }

    #[must_use]
    pub fn vanished(&self, doing: &'static str, e: io::Error) -> Trouble {
        Trouble::Vanished(self.host.clone(), doing, e)
    }

    async fn connect(&self, flow: Option<(&Flow, Direction)>) -> Result<TcpStream, Trouble> {
        let unknown = |e| Trouble::Unknown(self.host.clone(), e);
        let addresses = lookup_host((self.host.as_str(), self.port)).await.map_err(unknown)?;
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in addresses {
            match timeout(ANSWER_TIME, open(address, flow)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(Trouble::Unreachable(_, e))) => last = e,
                Ok(Err(e)) => return Err(e),
                Err(e) => last = e.into(),
            }
        }
        Err(Trouble::Unreachable(format!("{} port {}", self.host, self.port), last))
    }
}

async fn open(address: SocketAddr, flow: Option<(&Flow, Direction)>) -> Result<TcpStream, Trouble> {
    let unreachable = |e| Trouble::Unreachable(address.to_string(), e);
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    };
    let socket = socket.map_err(unreachable)?;
    match flow {
        Some((flow, _)) if flow.is_receiver() => congestion::receive(&socket, flow.name())?,
        Some((flow, Direction::Up)) => congestion::set(&socket, flow.name())?,
        _ => {}
    }
    let keepalive = TcpKeepalive::new()
        .with_time(GONE / 3)
        .with_interval(GONE / 3)
        .with_retries(2);
    let set = SockRef::from(&socket);
    let prepared = set
        .set_tcp_keepalive(&keepalive)
        .and_then(|()| set.set_tcp_user_timeout(Some(GONE)));
    prepared.map_err(unreachable)?;
    socket.connect(address).await.map_err(unreachable)
}

/// Can this machine do what `flow` asks of it?
/// The kernel lacks it, or this user may not have it.
pub fn check(flow: &Flow, direction: Direction) -> Result<(), NotHere> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let socket = socket.map_err(|e| NotHere::Other(flow.name().into(), e))?;
    if flow.is_receiver() {
        congestion::receive(&socket, flow.name())
    } else if direction == Direction::Up {
        congestion::set(&socket, flow.name())
    } else {
        Ok(())
    }
}
