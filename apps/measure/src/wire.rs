// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the two ends say to each other.
//!
//! A connection is authenticated, asks for one thing, and is that thing from then on:
//!
//! | client           | server                  | bytes |
//! | ---------------- | ----------------------- | ----: |
//! | `MAGIC`, nonce   |                         | 40    |
//! |                  | nonce                   | 32    |
//! | proof            |                         | 32    |
//! |                  | `Y`, proof; or `N`, end | 33, 1 |
//! | [`Request`]      | [`Answer`]              | JSON  |
//! | [`GO`]: a download begins |                | 1     |
//!
//! Before the proof the server has received more than it has sent, and only to an address that has answered. So no client
//! can make it send to another.

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::token::{mac, nonce, same, Nonce, Proof, Token, LENGTH};

/// All connections of an action are granted before the first of them begins.
pub const GO: u8 = b'G';

/// Where the server listens, TCP and UDP, if not told otherwise.
pub const PORT: u16 = 28_270;

const MAGIC: &[u8; 8] = b"NNMEAS1\n";
const CLIENT: &str = "netnice-measure client";
const SERVER: &str = "netnice-measure server";
const SESSION: &str = "netnice-measure session";
const YES: u8 = b'Y';
const NO: u8 = b'N';

/// Why the server did not let a client in.
#[derive(Debug, Error)]
pub enum Refusal {
    #[error("it did not speak this protocol")]
    Stranger,
    #[error("its token was another")]
    Token,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why the client did not get in.
#[derive(Debug, Error)]
pub enum Greeting {
    #[error("the server has another token; copy the server's file here, or this one there")]
    Token,
    #[error("what answers there does not know the token: it is no netnice-measure server of yours")]
    Impostor,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The server's side; gives the key of this connection.
/// The client does not prove to know the token.
pub async fn admit<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, token: &Token) -> Result<Proof, Refusal> {
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic).await?;
    if &magic != MAGIC {
        return Err(Refusal::Stranger);
    }
    let mut theirs: Nonce = [0; LENGTH];
    stream.read_exact(&mut theirs).await?;
    let ours: Nonce = nonce().map_err(io::Error::other)?;
    stream.write_all(&ours).await?;
    let mut proof: Proof = [0; LENGTH];
    stream.read_exact(&mut proof).await?;
    if !same(&proof, &token.prove(CLIENT, &ours, &theirs)) {
        stream.write_all(&[NO]).await?;
        return Err(Refusal::Token);
    }
    let mut answer = [YES; 1 + LENGTH];
    answer[1..].copy_from_slice(&token.prove(SERVER, &ours, &theirs));
    stream.write_all(&answer).await?;
    Ok(token.prove(SESSION, &ours, &theirs))
}

/// The client's side; gives the key of this connection.
/// The server refuses the token, or does not prove to know it.
pub async fn greet<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, token: &Token) -> Result<Proof, Greeting> {
    let ours: Nonce = nonce().map_err(io::Error::other)?;
    stream.write_all(&[MAGIC.as_slice(), &ours].concat()).await?;
    let mut theirs: Nonce = [0; LENGTH];
    stream.read_exact(&mut theirs).await?;
    stream.write_all(&token.prove(CLIENT, &theirs, &ours)).await?;
    match stream.read_u8().await? {
        YES => {}
        NO => return Err(Greeting::Token),
        _ => return Err(Greeting::Impostor),
    }
    let mut proof: Proof = [0; LENGTH];
    stream.read_exact(&mut proof).await?;
    if !same(&proof, &token.prove(SERVER, &theirs, &ours)) {
        return Err(Greeting::Impostor);
    }
    Ok(token.prove(SESSION, &theirs, &ours))
}

/// No message here comes near it.
const LONGEST: u16 = 1024;

/// What a connection is for. The server grants less if its limits are lower.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// The client sends this much, or for this long, and closes.
    Upload { bytes: u64, seconds: f64 },
    /// The server does, with this congestion control; `None`: the machine's usual one.
    Download {
        bytes: u64,
        seconds: f64,
        congestion: Option<String>,
    },
    /// The server sends datagrams of this session back for as long as the connection is open.
    Echo { seconds: f64 },
}

/// What the server makes of it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The transfer may begin, up to here.
    Granted { bytes: u64, seconds: f64 },
    /// The session's number for datagrams.
    Echo { session: u64, seconds: f64 },
    /// An upload has arrived: so much, of so many seconds.
    Arrived { bytes: u64, seconds: f64 },
    /// It will not be done: a sentence says why.
    Refused { why: String },
}

/// Reads one message.
/// The connection ends, or what comes is too long or no message.
pub async fn read<T: DeserializeOwned, S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<T> {
    let length = stream.read_u16().await?;
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message that is too long"));
    }
    let mut text = vec![0; length.into()];
    stream.read_exact(&mut text).await?;
    Ok(serde_json::from_slice(&text)?)
}

/// Writes one message.
/// The connection ends.
pub async fn write<T: Serialize, S: AsyncWrite + Unpin>(stream: &mut S, message: &T) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let length = u16::try_from(text.len()).map_err(io::Error::other)?;
    stream
        .write_all(&[&length.to_be_bytes(), text.as_slice()].concat())
        .await
}

/// Bytes of a datagram before what only fills it: session, number, tag.
const SHORTEST: usize = 8 + 8 + TAG;
const TAG: usize = 16;

/// A session and its key.
#[derive(Debug, Clone, Copy)]
pub struct Session {
    pub number: u64,
    pub key: Proof,
}

/// One datagram, without what fills it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    pub session: u64,
    pub number: u64,
}

impl Session {
    /// Writes a datagram at the beginning of `buffer`, which is as long as it will be.
    pub fn seal(&self, number: u64, buffer: &mut [u8]) {
        buffer[..8].copy_from_slice(&self.number.to_be_bytes());
        buffer[8..16].copy_from_slice(&number.to_be_bytes());
        let tag = self.tag(&buffer[..16]);
        buffer[16..SHORTEST].copy_from_slice(&tag[..TAG]);
    }

    /// Does this datagram come from a holder of the key?
    #[must_use]
    pub fn opens(&self, buffer: &[u8]) -> bool {
        buffer.len() >= SHORTEST && same(&self.tag(&buffer[..16])[..TAG], &buffer[16..SHORTEST])
    }

    fn tag(&self, head: &[u8]) -> Proof {
        mac(&self.key, &[b"datagram", head])
    }
}

impl Datagram {
    /// What it says to be, before its tag is looked at.
    #[must_use]
    pub fn read(buffer: &[u8]) -> Option<Self> {
        if buffer.len() < SHORTEST {
            return None;
        }
        let word = |at: usize| u64::from_be_bytes(buffer[at..at + 8].try_into().expect("eight bytes"));
        Some(Self {
            session: word(0),
            number: word(8),
        })
    }
}

/// A piece of noise, sent over and over.
#[derive(Debug)]
pub struct Payload(Vec<u8>);

impl Payload {
    #[must_use]
    pub fn new(length: usize) -> Self {
        let mut bytes = vec![0; length];
        fastrand::fill(&mut bytes);
        Self(bytes)
    }

    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_opens_it() {
        let session = Session {
            number: 7,
            key: [1; 32],
        };
        let mut buffer = [0; 200];
        session.seal(9, &mut buffer);
        assert_eq!(Datagram::read(&buffer), Some(Datagram { session: 7, number: 9 }));
        assert!(session.opens(&buffer));
        assert!(!Session {
            number: 7,
            key: [2; 32]
        }
        .opens(&buffer));
        buffer[15] ^= 1;
        assert!(!session.opens(&buffer));
        assert_eq!(Datagram::read(&buffer[..SHORTEST - 1]), None);
    }
}
