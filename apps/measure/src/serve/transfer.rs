// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The server's end of one transfer.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::limits::Ledger;
use crate::payload::Payload;
use crate::wire;

/// A peer that has not moved a byte for so long is gone.
const STALLED: Duration = Duration::from_secs(60);
const CHUNK: usize = 64 * 1024;

/// What a transfer was granted.
#[derive(Debug, Clone, Copy)]
pub struct Grant {
    pub bytes: u64,
    pub seconds: f64,
}

/// Takes what comes, until it ends or is enough, and says how much that was.
///
/// # Errors
/// The client is gone.
pub async fn take(stream: &mut TcpStream, grant: Grant, ledger: &Ledger) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let begun = Instant::now();
    let (mut bytes, mut last) = (0, begun);
    while bytes < grant.bytes && begun.elapsed().as_secs_f64() < grant.seconds {
        let room = usize::try_from(grant.bytes - bytes)
            .unwrap_or(CHUNK)
            .min(CHUNK);
        let read = timeout(STALLED, stream.read(&mut buffer[..room])).await??;
        if read == 0 {
            break;
        }
        bytes += read as u64;
        last = Instant::now();
        let Some(wait) = ledger.spend(read as u64, last) else {
            break;
        };
        pause(wait).await;
    }
    let seconds = last.duration_since(begun).as_secs_f64();
    wire::write(stream, &wire::Answer::Arrived { bytes, seconds }).await?;
    stream.shutdown().await
}

/// Sends what was granted once the client says so, and closes.
///
/// # Errors
/// The client is gone.
pub async fn give(stream: &mut TcpStream, grant: Grant, ledger: &Ledger) -> io::Result<()> {
    let payload = Payload::new(CHUNK);
    timeout(STALLED, stream.read_u8()).await??;
    let begun = Instant::now();
    let mut left = grant.bytes;
    while left > 0 && begun.elapsed().as_secs_f64() < grant.seconds {
        let room = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        let written = timeout(STALLED, stream.write(&payload.bytes()[..room])).await??;
        left -= written as u64;
        let Some(wait) = ledger.spend(written as u64, Instant::now()) else {
            break;
        };
        pause(wait).await;
    }
    stream.shutdown().await
}

async fn pause(wait: Duration) {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}
