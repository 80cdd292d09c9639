// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The server's end of one transfer.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::limits::Ledger;
use crate::wire::{self, Payload};

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
/// The client is gone.
pub async fn take(stream: &mut TcpStream, grant: Grant, ledger: &Ledger) -> io::Result<()> {
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
pub async fn give(stream: &mut TcpStream, grant: Grant, ledger: &Ledger) -> io::Result<()> {
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
