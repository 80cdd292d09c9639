// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Each end proves to the other that it knows the token.

use std::io;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::token::{nonce, same, Nonce, Proof, Token, LENGTH};

const MAGIC: &[u8; 8] = b"NNMEAS1\n";
const CLIENT: &str = "netnice-measure client";
const SERVER: &str = "netnice-measure server";
const SESSION: &str = "netnice-measure session";
const YES: u8 = b'Y';
const NO: u8 = b'N';

/// Why the server let nobody in.
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
    #[error(
        "what answers there does not know the token: it is no netnice-measure server of yours"
    )]
    Impostor,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The server's side; gives the key of this connection.
///
/// # Errors
/// Whoever is there does not prove to know the token.
pub async fn admit<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    token: &Token,
) -> Result<Proof, Refusal> {
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
///
/// # Errors
/// The server refuses the token, or does not prove to know it.
pub async fn greet<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    token: &Token,
) -> Result<Proof, Greeting> {
    let ours: Nonce = nonce().map_err(io::Error::other)?;
    stream
        .write_all(&[MAGIC.as_slice(), &ours].concat())
        .await?;
    let mut theirs: Nonce = [0; LENGTH];
    stream.read_exact(&mut theirs).await?;
    stream
        .write_all(&token.prove(CLIENT, &theirs, &ours))
        .await?;
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
