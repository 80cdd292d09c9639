// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The run: every document is begun at its time, whether earlier ones have arrived or not; what arrives is HTTP/1.1.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use rustix::time::{clock_gettime, ClockId};
use socket2::SockRef;
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;
use tokio::time::{sleep_until, timeout, Instant};

use crate::demand::Arrival;
use crate::report::{Document, Timeline};

const STEP_MS: u64 = 100;

/// What happened, one record an arrival in the same order.
pub struct Outcome {
    pub documents: Vec<Document>,
    pub timeline: Timeline,
    pub window_bytes: u64,
    pub started_monotonic_us: u64,
}

/// The part of the run that counts.
#[derive(Clone, Copy)]
pub struct Window {
    pub warmup: Duration,
    pub length: Duration,
    /// How long to wait for documents begun before the end.
    pub grace: Duration,
}

impl Window {
    fn contains(&self, since_start: Duration) -> bool {
        since_start >= self.warmup && since_start < self.warmup + self.length
    }
}

struct Tally {
    documents: Vec<Document>,
    steps: Vec<u64>,
    window_bytes: u64,
}

/// Fetches all arrivals from `server`; what is unfinished `window.grace` after the end is given up.
pub async fn run(server: &Server, arrivals: &[Arrival], window: Window) -> Outcome {
    let tally = Rc::new(RefCell::new(Tally {
        documents: arrivals.iter().map(|a| unfinished(a, window)).collect(),
        steps: Vec::new(),
        window_bytes: 0,
    }));
    let start = Instant::now();
    let started_monotonic_us = monotonic_us();
    let tasks = LocalSet::new();
    for (index, arrival) in arrivals.iter().copied().enumerate() {
        let (server, tally) = (server.clone(), Rc::clone(&tally));
        tasks.spawn_local(one(server, arrival, index, start, window, tally));
    }
    let limit = window.warmup + window.length + window.grace;
    // An elapsed grace is a result, not an error: the documents stay marked unfinished.
    let _ = timeout(limit, tasks).await;
    let tally = Rc::try_unwrap(tally)
        .unwrap_or_else(|_| unreachable!("all tasks are done or dropped"))
        .into_inner();
    Outcome {
        documents: tally.documents,
        timeline: Timeline {
            step_ms: STEP_MS,
            bytes: tally.steps,
        },
        window_bytes: tally.window_bytes,
        started_monotonic_us,
    }
}

async fn one(
    server: Server,
    arrival: Arrival,
    index: usize,
    start: Instant,
    window: Window,
    tally: Rc<RefCell<Tally>>,
) {
    let wanted = start + Duration::from_micros(arrival.at_us);
    sleep_until(wanted).await;
    tally.borrow_mut().documents[index].start_late_us = Some(micros(wanted.elapsed()));
    let result = server
        .fetch(arrival.bytes, |n| {
            let now = start.elapsed();
            let mut tally = tally.borrow_mut();
            let step = (now.as_millis() as u64 / STEP_MS) as usize;
            if tally.steps.len() <= step {
                tally.steps.resize(step + 1, 0);
            }
            tally.steps[step] += n;
            if window.contains(now) {
                tally.window_bytes += n;
            }
        })
        .await;
    let latency = micros(wanted.elapsed());
    let document = &mut tally.borrow_mut().documents[index];
    match result {
        Ok(()) => document.latency_us = Some(latency),
        Err(error) => document.error = Some(error.to_string()),
    }
}

fn unfinished(arrival: &Arrival, window: Window) -> Document {
    Document {
        client: arrival.client,
        scheduled_us: arrival.at_us,
        start_late_us: None,
        bytes: arrival.bytes,
        latency_us: None,
        error: None,
        measured: window.contains(Duration::from_micros(arrival.at_us)),
    }
}

fn micros(duration: Duration) -> u64 {
    duration.as_micros() as u64
}

fn monotonic_us() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1000
}

const MAX_HEAD: usize = 16 * 1024;
const CHUNK: usize = 64 * 1024;

/// Why a document did not arrive.
#[derive(Debug, Error)]
pub enum FetchError {
    #[error("could not connect: {0}")]
    Connect(io::Error),
    #[error("connection broke: {0}")]
    Broken(io::Error),
    #[error("the server closed the connection after {0} of {1} bytes")]
    Short(u64, u64),
    #[error("the server's answer is not HTTP/1.1: {0}")]
    NotHttp(String),
    #[error(
        "the server answered {0} with {1:?} bytes to a Range of {2} bytes. \
         It must support Range, and the file must be at least --max bytes long"
    )]
    NotThePart(u16, Option<u64>, u64),
}

/// Where the documents come from: the beginning of one big file.
#[derive(Debug, Clone)]
pub struct Server {
    pub address: SocketAddr,
    pub host: String,
    pub path: String,
}

impl Server {
    /// Fetches the first `bytes` bytes; `arrived` hears of every piece of the body.
    /// When the connection fails or the server does not deliver just the part asked for.
    pub async fn fetch(&self, bytes: u64, mut arrived: impl FnMut(u64)) -> Result<(), FetchError> {
        let mut stream = TcpStream::connect(self.address).await.map_err(FetchError::Connect)?;
        stream.set_nodelay(true).map_err(FetchError::Broken)?;
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: netnice-fetch\r\n\
             Range: bytes=0-{}\r\nConnection: close\r\n\r\n",
            self.path,
            self.host,
            bytes - 1
        );
        stream.write_all(request.as_bytes()).await.map_err(FetchError::Broken)?;

        let mut buffer = Vec::with_capacity(CHUNK);
        let mut got = loop {
            let n = stream.read_buf(&mut buffer).await.map_err(FetchError::Broken)?;
            if n == 0 {
                return Err(FetchError::Short(0, bytes));
            }
            if let Some(head) = head_length(&buffer, bytes)? {
                break (buffer.len() - head) as u64;
            }
        };
        arrived(got);
        while got < bytes {
            buffer.clear();
            let n = stream.read_buf(&mut buffer).await.map_err(FetchError::Broken)? as u64;
            if n == 0 {
                return Err(FetchError::Short(got, bytes));
            }
            got += n;
            arrived(n);
        }
        Ok(())
    }

    /// The congestion control of a connection to the server, as the kernel names it.
    /// When the server cannot be reached.
    pub async fn congestion_control(&self) -> Result<String, FetchError> {
        let stream = TcpStream::connect(self.address).await.map_err(FetchError::Connect)?;
        let name = SockRef::from(&stream).tcp_congestion().map_err(FetchError::Broken)?;
        let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
        Ok(String::from_utf8_lossy(&name[..end]).into_owned())
    }
}

/// The length of a complete response head that promises `bytes` bytes; `None` while incomplete.
fn head_length(buffer: &[u8], bytes: u64) -> Result<Option<usize>, FetchError> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(buffer) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if buffer.len() < MAX_HEAD => return Ok(None),
        Ok(httparse::Status::Partial) => return Err(FetchError::NotHttp(format!("head above {MAX_HEAD} bytes"))),
        Err(error) => return Err(FetchError::NotHttp(error.to_string())),
    };
    let status = response.code.unwrap_or(0);
    let promised = response
        .headers
        .iter()
        .find(|h| h.name.eq_ignore_ascii_case("content-length"))
        .and_then(|h| std::str::from_utf8(h.value).ok()?.trim().parse().ok());
    if status != 206 || promised != Some(bytes) {
        return Err(FetchError::NotThePart(status, promised, bytes));
    }
    Ok(Some(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_may_come_in_pieces() {
        let head = b"HTTP/1.1 206 Partial Content\r\nContent-Length: 10\r\n\r\n0123456789";
        let end = head.len() - 10;
        for cut in 1..end {
            assert!(head_length(&head[..cut], 10).unwrap().is_none());
        }
        assert_eq!(head_length(head, 10).unwrap(), Some(end));
    }

    #[test]
    fn another_answer_than_the_part_is_an_error() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
        let short = b"HTTP/1.1 206 Partial Content\r\nContent-Length: 9\r\n\r\n";
        assert!(head_length(whole, 10).is_err());
        assert!(head_length(short, 10).is_err());
        assert!(head_length(b"SSH-2.0-OpenSSH\r\n", 10).is_err());
    }
}
