// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One measurement: the transfers of an action, and the call beside them.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::{TcpStream, UdpSocket};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{interval, sleep};

use super::target::{Target, Trouble};
use super::transfer::{Timed, Transfer};
use crate::action::{Action, Direction};
use crate::results::Latency;
use crate::wire::{Answer, Datagram, Request, Session};

/// What an action showed.
#[derive(Debug)]
pub struct Shown {
    pub primary: Timed,
    pub beside_bytes: u64,
    pub ended: u32,
    pub ping: Option<Latency>,
    pub call: Option<Latency>,
}

/// Does an action: all connections are made first and begin together, and all end with the primary.
/// See [`Trouble`].
pub async fn measure(
    target: &Target,
    action: &Action,
    direction: Direction,
    bytes: u64,
    longest: Duration,
) -> Result<Shown, Trouble> {
    let primary = Transfer::open(target, &action.primary, direction, bytes, longest).await?;
    let call = Call::open(target, longest).await?;
    let others = others(target, action, direction, longest).await?;

    let begun = Instant::now();
    let others: Vec<_> = others.into_iter().map(Transfer::beside).collect();
    let primary = primary.timed(target, longest).await?;
    let beside_bytes = others.iter().map(|other| other.moved()).sum();
    let ended = others.iter().filter(|other| other.ended()).count() as u32;
    drop(others);
    let [ping, call] = call.end(begun).await;
    Ok(Shown {
        primary,
        beside_bytes,
        ended,
        ping,
        call,
    })
}

async fn others(
    target: &Target,
    action: &Action,
    direction: Direction,
    longest: Duration,
) -> Result<Vec<Transfer>, Trouble> {
    let mut opening = JoinSet::new();
    if let Some((flow, count)) = &action.beside {
        for _ in 0..*count {
            let (target, flow) = (target.clone(), flow.clone());
            opening.spawn(async move { Transfer::open(&target, &flow, direction, u64::MAX, longest).await });
        }
    }
    let mut others = Vec::new();
    while let Some(opened) = opening.join_next().await {
        others.push(opened.expect("no task of ours panics")?);
    }
    Ok(others)
}

/// What comes later is lost to the listener.
const LATE: Duration = Duration::from_secs(1);

/// One stream of datagrams.
#[derive(Debug, Clone, Copy)]
struct Stream {
    every: Duration,
    length: usize,
}

const STREAMS: [Stream; 2] = [
    Stream {
        every: Duration::from_millis(200),
        length: 64,
    },
    Stream {
        every: Duration::from_millis(20),
        length: 200,
    },
];

/// When a datagram left, and how long it was away.
type Trip = (Instant, Option<Duration>);
type Trips = [Vec<Trip>; STREAMS.len()];

/// A call that is going on.
pub struct Call {
    /// The session ends with it.
    _control: TcpStream,
    trips: Arc<Mutex<Trips>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Call {
    /// Begins it.
    /// See [`Trouble`].
    pub async fn open(target: &Target, longest: Duration) -> Result<Self, Trouble> {
        let seconds = longest.as_secs_f64() + 60.0;
        let (control, key, answer) = target.ask(None, &Request::Echo { seconds }).await?;
        let Answer::Echo { session, .. } = answer else {
            return Err(target.vanished("answering", io::ErrorKind::InvalidData.into()));
        };
        let peer = control.peer_addr().map_err(|e| target.vanished("answering", e))?;
        let socket = socket(peer).await.map_err(|e| target.vanished("a call was begun", e))?;
        let (socket, session) = (Arc::new(socket), Session { number: session, key });
        let trips = Arc::new(Mutex::new(Trips::default()));
        let mut tasks = vec![tokio::spawn(listen(Arc::clone(&socket), session, Arc::clone(&trips)))];
        for which in 0..STREAMS.len() {
            tasks.push(tokio::spawn(talk(
                Arc::clone(&socket),
                session,
                which,
                Arc::clone(&trips),
            )));
        }
        Ok(Self {
            _control: control,
            trips,
            tasks,
        })
    }

    /// Ends it; the ping and the call since `begun`.
    pub async fn end(self, begun: Instant) -> [Option<Latency>; 2] {
        let end = Instant::now();
        sleep(LATE).await;
        let trips = self.trips.lock().unwrap_or_else(PoisonError::into_inner);
        [0, 1].map(|which| summary(&trips[which], begun, end))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn socket(peer: SocketAddr) -> io::Result<UdpSocket> {
    let any: SocketAddr = match peer {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(peer).await?;
    Ok(socket)
}

async fn talk(socket: Arc<UdpSocket>, session: Session, which: usize, trips: Arc<Mutex<Trips>>) {
    let Stream { every, length } = STREAMS[which];
    let (mut timer, mut buffer) = (interval(every), vec![0; length]);
    loop {
        timer.tick().await;
        let number = {
            let mut trips = trips.lock().unwrap_or_else(PoisonError::into_inner);
            trips[which].push((Instant::now(), None));
            (trips[which].len() - 1) * STREAMS.len() + which
        };
        session.seal(number as u64, &mut buffer);
        // One that cannot leave is lost, as any other.
        socket.send(&buffer).await.ok();
    }
}

async fn listen(socket: Arc<UdpSocket>, session: Session, trips: Arc<Mutex<Trips>>) {
    let mut buffer = [0; 1500];
    loop {
        let Ok(length) = socket.recv(&mut buffer).await else {
            tokio::task::yield_now().await;
            continue;
        };
        let now = Instant::now();
        let datagram = Datagram::read(&buffer[..length]).filter(|_| session.opens(&buffer[..length]));
        let Some(number) = datagram.and_then(|d| usize::try_from(d.number).ok()) else {
            continue;
        };
        let mut trips = trips.lock().unwrap_or_else(PoisonError::into_inner);
        let trip = trips[number % STREAMS.len()].get_mut(number / STREAMS.len());
        if let Some((left, away @ None)) = trip {
            *away = Some(now.duration_since(*left));
        }
    }
}

/// Of what left between `begun` and `end`; none if nothing did.
fn summary(trips: &[Trip], begun: Instant, end: Instant) -> Option<Latency> {
    let within = trips.iter().filter(|(left, _)| (begun..end).contains(left));
    let (mut sent, mut away) = (0, Vec::new());
    for (_, trip) in within {
        sent += 1;
        away.extend(trip.filter(|&trip| trip <= LATE));
    }
    if sent == 0 {
        return None;
    }
    away.sort_unstable();
    let at = |share: f64| {
        let index = ((away.len() as f64 * share).ceil() as usize).saturating_sub(1);
        away.get(index).map_or(LATE, |away| *away).as_secs_f64() * 1e3
    };
    Some(Latency {
        sent,
        lost: sent - away.len() as u32,
        p50_ms: at(0.5),
        p95_ms: at(0.95),
        max_ms: at(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trips_of_the_measured_time_count() {
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let trips: Vec<Trip> = (0..200)
            .map(|n| (at(n * 10), (n % 10 != 0).then(|| Duration::from_millis(n))))
            .collect();
        let latency = summary(&trips, at(1000), at(2000)).expect("some");
        assert_eq!((latency.sent, latency.lost), (100, 10));
        assert_eq!((latency.p50_ms, latency.max_ms), (149.0, 199.0));
        assert_eq!(summary(&trips, at(5000), at(6000)), None);
    }

    #[test]
    fn what_comes_late_is_lost() {
        let begun = Instant::now();
        let trips = [(begun, Some(LATE * 2)), (begun, None)];
        let latency = summary(&trips, begun, begun + LATE).expect("some");
        assert_eq!((latency.sent, latency.lost), (2, 2));
    }
}
