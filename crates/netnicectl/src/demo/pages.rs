// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A server of pages and sink of uploads, and its clients: one connection a request, one byte a request.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use socket2::SockRef;

/// In a namespace of its own every port is free.
const PORT: u16 = 80;
/// A small document with what belongs to it.
const PAGE_BYTES: usize = 30_000;
/// A page that takes longer has not come.
const LONGEST: Duration = Duration::from_secs(5);
const BUFFER: usize = 1 << 16;

const PAGE: u8 = b'p';
const UPLOAD: u8 = b'u';
const COUNT: u8 = b'c';

pub fn serve() -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).context("cannot listen for the demonstration")?;
    serve_on(&listener);
    Ok(())
}

fn serve_on(listener: &TcpListener) {
    let (begun, bytes) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    for stream in listener.incoming().flatten() {
        let bytes = Arc::clone(&bytes);
        // A client that goes away is no error of the server.
        thread::spawn(move || answer(stream, begun, &bytes));
    }
}

fn answer(mut stream: TcpStream, begun: Instant, bytes: &AtomicU64) -> io::Result<()> {
    let mut request = [0];
    stream.read_exact(&mut request)?;
    match request[0] {
        PAGE => stream.write_all(&[b'.'; PAGE_BYTES]),
        COUNT => {
            let count = Received {
                bytes: bytes.load(Ordering::Relaxed),
                seconds: begun.elapsed().as_secs_f64(),
            };
            stream.write_all(&serde_json::to_vec(&count)?)
        }
        UPLOAD => {
            let mut buffer = vec![0; BUFFER];
            loop {
                match stream.read(&mut buffer)? {
                    0 => return Ok(()),
                    read => bytes.fetch_add(read as u64, Ordering::Relaxed),
                };
            }
        }
        _ => Ok(()),
    }
}

/// What of uploads has arrived, and when, by the server's clock.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Received {
    bytes: u64,
    seconds: f64,
}

impl Received {
    /// Bits a second between both.
    pub fn rate(before: &Self, after: &Self) -> f64 {
        (after.bytes - before.bytes) as f64 * 8.0 / (after.seconds - before.seconds).max(1e-3)
    }
}

/// Numbers pages for as long as there is time for another.
pub struct Pages {
    end: Instant,
}

impl Pages {
    pub fn during(time: Duration) -> Self {
        Self {
            end: Instant::now() + time,
        }
    }
}

impl Iterator for Pages {
    type Item = ();

    fn next(&mut self) -> Option<()> {
        (Instant::now() < self.end).then_some(())
    }
}

/// Asks for one page; how long it takes from the connection's beginning to the last byte.
pub fn fetch(server: &str) -> io::Result<Duration> {
    let begun = Instant::now();
    let page = ask(at(server)?, PAGE)?;
    match page.len() {
        PAGE_BYTES => Ok(begun.elapsed()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

pub fn received(server: &str) -> io::Result<Received> {
    Ok(serde_json::from_slice(&ask(at(server)?, COUNT)?)?)
}

/// Sends until it is killed; then what has not been sent is discarded, so that it does not fill the line any longer.
pub fn upload(server: &str) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&at(server)?, LONGEST)?;
    SockRef::from(&stream).set_linger(Some(Duration::ZERO))?;
    stream.write_all(&[UPLOAD])?;
    let buffer = vec![0; BUFFER];
    loop {
        stream.write_all(&buffer)?;
    }
}

fn at(server: &str) -> io::Result<SocketAddr> {
    let address: Ipv4Addr = server.parse().map_err(io::Error::other)?;
    Ok((address, PORT).into())
}

fn ask(server: SocketAddr, request: u8) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&server, LONGEST)?;
    stream.set_read_timeout(Some(LONGEST))?;
    stream.write_all(&[request])?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        thread::spawn(move || serve_on(&listener));
        address
    }

    #[test]
    fn pages_are_whole() {
        assert_eq!(ask(server(), PAGE).expect("a page").len(), PAGE_BYTES);
    }

    #[test]
    fn uploads_are_counted_where_they_arrive() {
        let server = server();
        let count = || -> Received { serde_json::from_slice(&ask(server, COUNT).expect("a count")).expect("JSON") };
        let before = count();
        let mut stream = TcpStream::connect(server).expect("it listens");
        stream.write_all(&[UPLOAD]).expect("it reads");
        stream.write_all(&[0; 5000]).expect("it reads");
        drop(stream);
        let deadline = Instant::now() + LONGEST;
        let after = (0..)
            .map(|_| count())
            .find(|after| after.bytes == before.bytes + 5000 || Instant::now() > deadline)
            .expect("no end");
        assert_eq!(after.bytes - before.bytes, 5000);
        assert!(Received::rate(&before, &after) > 0.0);
    }

    #[test]
    fn pages_end_with_their_time() {
        assert_eq!(Pages::during(Duration::ZERO).count(), 0);
    }
}
