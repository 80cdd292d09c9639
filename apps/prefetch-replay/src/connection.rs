// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A persistent HTTP/1.1 connection: requests may be sent before earlier replies are there; bodies are thrown away.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use bytes::{Buf, BytesMut};
use httparse::Status;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A link for each hint, perhaps.
const MOST_HEADERS: usize = 200;
const LONGEST_HEAD: usize = 64 << 10;
const READ: usize = 16 << 10;

/// Of a reply, what a replay needs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    /// Of the body, without its framing.
    pub bytes: u64,
    /// URLs as the reply has them.
    pub hints: Vec<String>,
    /// A browser would have it when it is asked for again.
    pub storable: bool,
    /// No more replies come.
    pub last: bool,
}

/// How a body ends.
enum Body {
    After(u64),
    Chunked,
    WithTheConnection,
}

#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
    /// Bytes that have come, heads and all.
    pub received: u64,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: BytesMut::new(),
            received: 0,
        })
    }

    pub async fn send(&mut self, requests: &str) -> io::Result<()> {
        self.stream.write_all(requests.as_bytes()).await
    }

    /// The reply to the oldest request without one.
    pub async fn receive(&mut self) -> io::Result<Reply> {
        let (mut reply, body) = loop {
            let (reply, body) = self.head().await?;
            // Interim replies come before the one that counts.
            if reply.status >= 200 {
                break (reply, body);
            }
        };
        reply.bytes = match body {
            Body::After(length) => self.skip(length).await?,
            Body::Chunked => self.skip_chunks().await?,
            Body::WithTheConnection => self.skip_all().await?,
        };
        Ok(reply)
    }

    async fn head(&mut self) -> io::Result<(Reply, Body)> {
        loop {
            if let Some((reply, body, length)) = parse(&self.buffer)? {
                self.buffer.advance(length);
                return Ok((reply, body));
            }
            if self.buffer.len() > LONGEST_HEAD {
                return Err(unclear("its head is too long"));
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> io::Result<()> {
        self.buffer.reserve(READ);
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            bytes => {
                self.received += bytes as u64;
                Ok(())
            }
        }
    }

    async fn skip(&mut self, length: u64) -> io::Result<u64> {
        let mut left = length;
        while left > 0 {
            if self.buffer.is_empty() {
                self.read().await?;
            }
            let here = left.min(self.buffer.len() as u64);
            self.buffer.advance(here as usize);
            left -= here;
        }
        Ok(length)
    }

    async fn skip_chunks(&mut self) -> io::Result<u64> {
        let mut bytes = 0;
        loop {
            let size = loop {
                match httparse::parse_chunk_size(&self.buffer) {
                    Ok(Status::Complete((start, size))) => {
                        self.buffer.advance(start);
                        break size;
                    }
                    Ok(Status::Partial) => self.read().await?,
                    Err(_) => return Err(unclear("a chunk has no size")),
                }
            };
            if size == 0 {
                return self.skip_trailers().await.map(|()| bytes);
            }
            bytes += self.skip(size).await?;
            self.skip(2).await?;
        }
    }

    /// Lines up to an empty one.
    async fn skip_trailers(&mut self) -> io::Result<()> {
        loop {
            let end = self.buffer.iter().position(|b| *b == b'\n');
            let Some(end) = end else {
                self.read().await?;
                continue;
            };
            let line = self.buffer.split_to(end + 1);
            if line.trim_ascii().is_empty() {
                return Ok(());
            }
        }
    }

    async fn skip_all(&mut self) -> io::Result<u64> {
        let mut bytes = 0;
        loop {
            bytes += self.buffer.len() as u64;
            self.buffer.clear();
            match self.read().await {
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(bytes),
                done => done?,
            }
        }
    }
}

fn unclear(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("a reply is not HTTP/1.1: {why}"))
}

/// The head at the beginning of `text`, how its body ends, and the head's length; None while some of it is missing.
fn parse(text: &[u8]) -> io::Result<Option<(Reply, Body, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut head = httparse::Response::new(&mut headers);
    let length = match head.parse(text) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return Ok(None),
        Err(e) => return Err(unclear(&e.to_string())),
    };
    let status = head.code.unwrap_or(0);
    let mut body = Body::WithTheConnection;
    let mut reply = Reply {
        status,
        storable: status == 200,
        last: head.version == Some(0),
        ..Reply::default()
    };
    for header in head.headers {
        let value = String::from_utf8_lossy(header.value);
        match header.name.to_ascii_lowercase().as_str() {
            "content-length" if !matches!(body, Body::Chunked) => {
                let bytes = value.trim().parse();
                body = Body::After(bytes.map_err(|_| unclear("its length is no number"))?);
            }
            "transfer-encoding" => body = Body::Chunked,
            "connection" => reply.last = value.eq_ignore_ascii_case("close"),
            "cache-control" => reply.storable &= !forbids_reuse(&value),
            "link" => reply.hints.extend(prefetches(&value)),
            _ => {}
        }
    }
    if matches!(status, 100..=199 | 204 | 304) {
        body = Body::After(0);
    }
    reply.last |= matches!(body, Body::WithTheConnection);
    Ok(Some((reply, body, length)))
}

fn forbids_reuse(cache_control: &str) -> bool {
    let directives = cache_control.split(',').map(str::trim);
    directives
        .into_iter()
        .any(|d| ["no-store", "no-cache", "max-age=0"].contains(&d.to_ascii_lowercase().as_str()))
}

/// The URLs of `<URL>; rel=prefetch` in one header's value.
pub fn prefetches(value: &str) -> Vec<String> {
    let mut rest = value;
    let mut urls = Vec::new();
    while let Some((_, after)) = rest.split_once('<') {
        let Some((url, after)) = after.split_once('>') else {
            break;
        };
        let end = end_of_link(after);
        if is_prefetch(&after[..end]) {
            urls.push(url.trim().to_owned());
        }
        rest = &after[end..];
    }
    urls
}

/// Up to the comma that no quotes are around.
fn end_of_link(parameters: &str) -> usize {
    let mut quoted = false;
    let comma = parameters.bytes().position(|b| {
        quoted ^= b == b'"';
        b == b',' && !quoted
    });
    comma.unwrap_or(parameters.len())
}

fn is_prefetch(parameters: &str) -> bool {
    let relation = |parameter: &str| {
        let (name, value) = parameter.split_once('=')?;
        let named = name.trim().eq_ignore_ascii_case("rel");
        let value = value.trim().trim_matches('"').to_ascii_lowercase();
        named.then(|| value.split_whitespace().any(|v| v == "prefetch"))
    };
    // The first counts, says the RFC.
    parameters.split(';').find_map(relation).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// What comes of these bytes, in pieces of any size.
    async fn received(text: &'static str, piece: usize) -> Vec<io::Result<Reply>> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = async {
            let (mut stream, _) = listener.accept().await.expect("a client");
            stream.set_nodelay(true).expect("a socket");
            for piece in text.as_bytes().chunks(piece) {
                stream.write_all(piece).await.expect("a client");
                tokio::task::yield_now().await;
            }
        };
        let client = async {
            let mut connection = Connection::open(address).await.expect("a server");
            let mut replies = Vec::new();
            while replies.last().is_none_or(Result::is_ok) {
                replies.push(connection.receive().await);
            }
            replies
        };
        tokio::join!(server, client).1
    }

    #[tokio::test]
    async fn replies_end_where_they_should() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nLink: </n>; rel=prefetch\r\n\r\nabcde\
        HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=prefetch\r\n\r\n\
        HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: no-store\r\n\r\n\
        3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n\
        HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n\
        HTTP/1.0 200 OK\r\n\r\nto the end";
        for piece in [1, 7, text.len()] {
            let replies = received(text, piece).await;
            let found = replies[..4].iter().flatten();
            let found: Vec<_> = found.map(|r| (r.status, r.bytes, r.storable, r.last)).collect();
            assert_eq!(
                found,
                [
                    (200, 5, true, false),
                    (200, 13, false, false),
                    (304, 0, false, false),
                    (200, 10, true, true)
                ]
            );
            assert_eq!(replies[0].as_ref().expect("a reply").hints, ["/n"]);
            assert_eq!(replies.len(), 5, "then the connection ends");
        }
    }

    #[tokio::test]
    async fn what_is_cut_short_is_an_error() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
            "SSH-2.0-OpenSSH\r\n\r\n",
        ] {
            assert!(received(text, 100).await[0].is_err(), "{text}");
        }
    }

    #[test]
    fn links_of_all_shapes() {
        assert_eq!(prefetches("</next>; rel=prefetch"), ["/next"]);
        assert_eq!(
            prefetches(
                "</a,b>;REL=\"next Prefetch\" , </c>; rel=preload, </d>; title=\"x, <y>; rel=prefetch\"; rel=prefetch"
            ),
            ["/a,b", "/d"]
        );
        for none in [
            "",
            "</a>",
            "</a>; rel=dns-prefetch",
            "</a; rel=prefetch",
            "</a>; rel=next; rel=prefetch",
        ] {
            assert_eq!(prefetches(none), [] as [&str; 0], "{none}");
        }
    }
}
