// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One connection of an action, from its grant to its last byte.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::target::{Target, Trouble};
use crate::action::{Direction, Flow};
use crate::congestion::acknowledged;
use crate::wire::{self, Answer, Payload, Request};

const CHUNK: usize = 64 * 1024;
/// A primary that moves nothing for so long is over.
const STALLED: Duration = Duration::from_secs(30);

/// A connection that may begin.
pub struct Transfer {
    stream: TcpStream,
    direction: Direction,
    /// What the server grants.
    bytes: u64,
}

/// How a primary went.
#[derive(Debug, Clone, Copy)]
pub struct Timed {
    pub bytes: u64,
    pub seconds: f64,
    pub cut: bool,
}

impl Transfer {
    /// Asks the server for a transfer.
    /// See [`Trouble`].
    pub async fn open(
        target: &Target,
        flow: &Flow,
        direction: Direction,
        bytes: u64,
        longest: Duration,
    ) -> Result<Self, Trouble> {
        // Until we end it: the server's own end comes only if we do not.
        let seconds = longest.as_secs_f64() + 60.0;
        let request = match direction {
            Direction::Up => Request::Upload { bytes, seconds },
            Direction::Down => {
                let congestion = (!flow.is_receiver()).then(|| flow.name().to_owned());
                Request::Download {
                    bytes,
                    seconds,
                    congestion,
                }
            }
        };
        let (stream, _, answer) = target.ask(Some((flow, direction)), &request).await?;
        match answer {
            Answer::Granted { bytes, .. } => Ok(Self {
                stream,
                direction,
                bytes,
            }),
            _ => Err(target.vanished("answering", io::ErrorKind::InvalidData.into())),
        }
    }

    /// Moves all of it and says how long that took; ends it after `longest`.
    /// The server is gone.
    pub async fn timed(mut self, target: &Target, longest: Duration) -> Result<Timed, Trouble> {
        let begun = Instant::now();
        let before = self.moved_before();
        let moved = AtomicU64::new(0);
        let whole = timeout(longest, self.whole(&moved)).await;
        let seconds = begun.elapsed().as_secs_f64();
        // What waits in our own queue must not linger on the path.
        SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).ok();
        let what = "data was moved";
        match whole {
            Ok(Ok(bytes)) => Ok(Timed {
                bytes,
                seconds,
                cut: false,
            }),
            Ok(Err(e)) => Err(target.vanished(what, e)),
            Err(_) => {
                let bytes = match self.direction {
                    Direction::Down => moved.load(Ordering::Relaxed),
                    Direction::Up => acknowledged(&self.stream).unwrap_or(before) - before,
                };
                if bytes == 0 {
                    return Err(target.vanished(what, io::ErrorKind::TimedOut.into()));
                }
                Ok(Timed {
                    bytes,
                    seconds,
                    cut: true,
                })
            }
        }
    }

    async fn whole(&mut self, moved: &AtomicU64) -> io::Result<u64> {
        match self.direction {
            Direction::Down => {
                receive(&self.stream, self.bytes, moved).await?;
                Ok(moved.load(Ordering::Relaxed))
            }
            Direction::Up => {
                send(&self.stream, self.bytes).await?;
                SockRef::from(&self.stream).shutdown(std::net::Shutdown::Write)?;
                match wire::read(&mut self.stream).await? {
                    Answer::Arrived { bytes, .. } => Ok(bytes),
                    _ => Err(io::ErrorKind::InvalidData.into()),
                }
            }
        }
    }

    fn moved_before(&self) -> u64 {
        acknowledged(&self.stream).unwrap_or(0)
    }

    /// Runs beside the primary.
    #[must_use]
    pub fn beside(self) -> Beside {
        let before = self.moved_before();
        let (stream, received) = (Arc::new(self.stream), Arc::new(AtomicU64::new(0)));
        let (theirs, counter) = (Arc::clone(&stream), Arc::clone(&received));
        let task = tokio::spawn(async move {
            match self.direction {
                Direction::Up => send(&theirs, self.bytes).await,
                Direction::Down => receive(&theirs, self.bytes, &counter).await,
            }
        });
        Beside {
            stream,
            received,
            before,
            direction: self.direction,
            task,
        }
    }
}

/// A connection that runs until it is dropped.
pub struct Beside {
    stream: Arc<TcpStream>,
    received: Arc<AtomicU64>,
    before: u64,
    direction: Direction,
    task: JoinHandle<io::Result<()>>,
}

impl Beside {
    /// Bytes that have arrived at the other end of it.
    #[must_use]
    pub fn moved(&self) -> u64 {
        match self.direction {
            Direction::Down => self.received.load(Ordering::Relaxed),
            Direction::Up => acknowledged(&*self.stream).unwrap_or(self.before) - self.before,
        }
    }

    /// Has it ended before its time?
    #[must_use]
    pub fn ended(&self) -> bool {
        self.task.is_finished()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        SockRef::from(&*self.stream).set_linger(Some(Duration::ZERO)).ok();
        self.task.abort();
    }
}

async fn send(stream: &TcpStream, bytes: u64) -> io::Result<()> {
    let payload = Payload::new(CHUNK);
    let mut left = bytes;
    while left > 0 {
        stream.writable().await?;
        let room = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        match stream.try_write(&payload.bytes()[..room]) {
            Ok(written) => left -= written as u64,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Lets the server begin, and reads until it closes or has sent all.
async fn receive(stream: &TcpStream, bytes: u64, moved: &AtomicU64) -> io::Result<()> {
    stream.writable().await?;
    stream.try_write(&[wire::GO])?;
    let mut buffer = vec![0; CHUNK];
    let mut left = bytes;
    while left > 0 {
        tokio::select! {
            ready = stream.readable() => ready?,
            () = sleep(STALLED) => return Err(io::ErrorKind::TimedOut.into()),
        }
        match stream.try_read(&mut buffer) {
            Ok(0) if moved.load(Ordering::Relaxed) == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(0) => break,
            Ok(read) => {
                moved.fetch_add(read as u64, Ordering::Relaxed);
                left = left.saturating_sub(read as u64);
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
