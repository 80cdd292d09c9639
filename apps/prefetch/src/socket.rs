// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A browser's connection: hyper reads and writes it, while others change its congestion control.

use std::future::Future;
use std::io::{self, IoSlice};
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::{ready, Context, Poll};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// The connection, and in which way it sends now.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    background: AtomicBool,
    closed: AtomicBool,
}

impl Socket {
    pub fn new(stream: TcpStream) -> Arc<Self> {
        let (background, closed) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Self {
            stream,
            background,
            closed,
        })
    }

    /// What is sent from now on, and what waits, takes only what other traffic leaves. False: the kernel refused.
    pub fn yield_to_all(&self, congestion_control: &str) -> bool {
        let done = set_congestion(&self.stream, congestion_control).is_ok();
        if done {
            self.background.store(true, Ordering::Release);
        }
        done
    }

    /// A user waits for it again. The window starts as on a fresh connection: netnice leaves nothing smaller behind.
    pub fn hurry(&self, congestion_control: &str) -> bool {
        let was = self.background.swap(false, Ordering::AcqRel);
        was && set_congestion(&self.stream, congestion_control).is_ok()
    }

    /// Bytes that have not arrived; none where the connection is gone.
    pub fn under_way(&self) -> usize {
        if self.closed.load(Ordering::Acquire) {
            return 0;
        }
        unacknowledged(&self.stream).unwrap_or(0)
    }

    /// No task reads or writes it any more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }
}

/// One end of it for hyper; fails once a reader has taken nothing for `time_limit`.
#[derive(Debug)]
pub struct Stream {
    socket: Arc<Socket>,
    time_limit: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Stream {
    pub fn new(socket: Arc<Socket>, time_limit: Duration) -> Self {
        let stalled = None;
        Self {
            socket,
            time_limit,
            stalled,
        }
    }

    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        send: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            match self.socket.stream.poll_write_ready(cx)? {
                Poll::Ready(()) => match send(&self.socket.stream) {
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => continue,
                    done => {
                        self.stalled = None;
                        return Poll::Ready(done);
                    }
                },
                Poll::Pending => {
                    let time_limit = self.time_limit;
                    let stalled = self
                        .stalled
                        .get_or_insert_with(|| Box::pin(tokio::time::sleep(time_limit)));
                    ready!(stalled.as_mut().poll(cx));
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.socket.stream.poll_read_ready(cx))?;
            match self.socket.stream.try_read_buf(buf) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => continue,
                done => return Poll::Ready(done.map(|_| ())),
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send(cx, |stream| stream.try_write(data))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_send(cx, |stream| stream.try_write_vectored(data))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&self.socket.stream).shutdown(std::net::Shutdown::Write))
    }
}

/// What a connection that is now made here would run on.
pub fn system_congestion() -> io::Result<String> {
    congestion_of(&TcpListener::bind(("127.0.0.1", 0))?)
}

pub fn congestion_of(socket: &impl AsFd) -> io::Result<String> {
    let name = SockRef::from(socket).tcp_congestion()?;
    let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

pub fn set_congestion(socket: &impl AsFd, name: &str) -> io::Result<()> {
    SockRef::from(socket).set_tcp_congestion(name.as_bytes())
}

/// The first of `names` that sockets here can have.
pub fn first_available(names: &[String]) -> Option<String> {
    let probe = TcpListener::bind(("127.0.0.1", 0)).ok()?;
    names.iter().find(|name| set_congestion(&probe, name).is_ok()).cloned()
}

/// Bytes that the peer has not acknowledged, sent or not.
pub fn unacknowledged(socket: &impl AsFd) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: TIOCOUTQ writes one int to `bytes`, which outlives the call.
    let done = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &mut bytes) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(bytes.max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_yields_and_hurries_again() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (stream, _) = tokio::join!(TcpStream::connect(address), listener.accept());
        let socket = Socket::new(stream.expect("a connection"));
        let now = || congestion_of(&socket.stream).expect("a name");
        let usual = now();
        assert!(!socket.hurry("reno"), "it does not yield yet");
        assert!(socket.yield_to_all("reno"));
        assert_eq!(now(), "reno");
        assert!(socket.hurry(&usual));
        assert_eq!(now(), usual);
        assert!(!socket.yield_to_all("none-such"));
        assert_eq!(socket.under_way(), 0);
    }
}
