// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is asked and answered once both ends know each other: two bytes of length, then JSON.

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

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
///
/// # Errors
/// The connection ends, or what comes is too long or no message.
pub async fn read<T: DeserializeOwned, S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<T> {
    let length = stream.read_u16().await?;
    if length > LONGEST {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a message that is too long",
        ));
    }
    let mut text = vec![0; length.into()];
    stream.read_exact(&mut text).await?;
    Ok(serde_json::from_slice(&text)?)
}

/// Writes one message.
///
/// # Errors
/// The connection ends.
pub async fn write<T: Serialize, S: AsyncWrite + Unpin>(
    stream: &mut S,
    message: &T,
) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let length = u16::try_from(text.len()).map_err(io::Error::other)?;
    stream
        .write_all(&[&length.to_be_bytes(), text.as_slice()].concat())
        .await
}
