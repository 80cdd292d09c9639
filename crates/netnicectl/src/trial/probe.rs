// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Latency, a few times a second: echoes of the router, and connections to the server.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::process::id;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

const INTERVAL: Duration = Duration::from_millis(250);
/// A first retransmission of a SYN comes after 1 s.
const LONGEST: Duration = Duration::from_secs(3);
/// Echoes before a router is known not to answer.
const TRIES: u16 = 3;

const ECHO_REQUEST: u8 = 8;
const ECHO_REPLY: u8 = 0;

/// What latency is measured to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Server { name: String, address: SocketAddr },
    Router(Ipv4Addr),
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server { name, address } => write!(f, "connecting to {name}, port {}", address.port()),
            Self::Router(address) => write!(f, "echoes of the router {address}"),
        }
    }
}

/// Both, or the one that answers. The router's echo does not see a queue beyond the router; connections to the server do.
pub fn targets(host: &str, port: u16) -> Result<Vec<Target>> {
    let server = server(host, port);
    let routes = fs::read_to_string("/proc/net/route").unwrap_or_default();
    let router = gateway(&routes).filter(|router| answers(*router)).map(Target::Router);
    match (server, router) {
        (Ok(server), router) => Ok([server].into_iter().chain(router).collect()),
        (Err(_), Some(router)) => Ok(vec![router]),
        (Err(why), None) => Err(why),
    }
}

fn server(host: &str, port: u16) -> Result<Target> {
    let addresses = (host, port)
        .to_socket_addrs()
        .with_context(|| format!("cannot find {host}"))?;
    let mut last = None;
    for address in addresses {
        match TcpStream::connect_timeout(&address, LONGEST) {
            Ok(_) => {
                return Ok(Target::Server {
                    name: host.to_owned(),
                    address,
                })
            }
            Err(why) => last = Some(why),
        }
    }
    match last {
        Some(why) => Err(why).with_context(|| format!("cannot connect to {host}, port {port}")),
        None => bail!("cannot find {host}: it has no address"),
    }
}

/// The default gateway of the lowest metric, as /proc/net/route has it.
fn gateway(routes: &str) -> Option<Ipv4Addr> {
    const VIA_GATEWAY: u32 = 2;
    let parsed = routes.lines().skip(1).filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let hex = |column: usize| u32::from_str_radix(words.get(column)?, 16).ok();
        let metric: u32 = words.get(6)?.parse().ok()?;
        let is_default = hex(1)? == 0 && hex(7)? == 0 && hex(3)? & VIA_GATEWAY != 0;
        is_default.then_some((metric, Ipv4Addr::from(hex(2)?.to_ne_bytes())))
    });
    parsed.min_by_key(|(metric, _)| *metric).map(|(_, gateway)| gateway)
}

fn answers(router: Ipv4Addr) -> bool {
    let Ok(mut echo) = Echo::open(router) else { return false };
    (0..TRIES).any(|_| echo.round_trip(Duration::from_secs(1)).is_ok())
}

/// Milliseconds of each probe until `stop`; `None` of one that had no answer in time.
pub fn probe(target: &Target, stop: &AtomicBool) -> Result<Vec<Option<f64>>> {
    let mut echo = match target {
        Target::Router(address) => Some(Echo::open(*address).context("cannot open a socket for echoes")?),
        Target::Server { .. } => None,
    };
    let mut found = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let took = match (target, &mut echo) {
            (Target::Server { address, .. }, _) => {
                TcpStream::connect_timeout(address, LONGEST).map(|_| begun.elapsed())
            }
            (Target::Router(_), Some(echo)) => echo.round_trip(LONGEST),
            (Target::Router(_), None) => Err(ErrorKind::NotConnected.into()),
        };
        found.push(took.ok().map(|took| took.as_secs_f64() * 1e3));
        sleep(INTERVAL.saturating_sub(begun.elapsed()));
    }
    Ok(found)
}

/// ICMP echoes of one host, one after the other.
struct Echo {
    socket: Socket,
    sequence: u16,
}

impl Echo {
    fn open(host: Ipv4Addr) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4))?;
        socket.connect(&SockAddr::from(SocketAddr::from((host, 0))))?;
        Ok(Self { socket, sequence: 0 })
    }

    fn round_trip(&mut self, longest: Duration) -> io::Result<Duration> {
        self.sequence = self.sequence.wrapping_add(1);
        let sent = request(id() as u16, self.sequence);
        let begun = Instant::now();
        self.socket.send(&sent)?;
        let mut packet = [0; 128];
        loop {
            let rest = longest.saturating_sub(begun.elapsed());
            if rest.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.socket.set_read_timeout(Some(rest))?;
            let read = self.socket.read(&mut packet)?;
            if is_reply(&packet[..read], &sent) {
                return Ok(begun.elapsed());
            }
        }
    }
}

/// An echo request without data.
fn request(identifier: u16, sequence: u16) -> [u8; 8] {
    let mut packet = [0; 8];
    packet[0] = ECHO_REQUEST;
    packet[4..6].copy_from_slice(&identifier.to_be_bytes());
    packet[6..8].copy_from_slice(&sequence.to_be_bytes());
    let words = packet
        .chunks_exact(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    packet[2..4].copy_from_slice(&checksum.to_be_bytes());
    packet
}

/// An IPv4 packet with the answer to `sent`: the same identifier and sequence number.
fn is_reply(packet: &[u8], sent: &[u8; 8]) -> bool {
    let header = packet.first().map_or(0, |first| usize::from(first & 15) * 4);
    let Some(icmp) = packet.get(header..) else { return false };
    icmp.first() == Some(&ECHO_REPLY) && icmp.get(4..8) == Some(&sent[4..8])
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const ROUTES: &str = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
wlan0\t00000000\t0200A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth0\t0000A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
";

    #[cfg(target_endian = "little")]
    #[test]
    fn the_gateway_has_the_lowest_metric() {
        assert_eq!(gateway(ROUTES), Some(Ipv4Addr::new(192, 168, 0, 1)));
        let (head, _) = ROUTES.split_once("wlan0").expect("a route");
        assert_eq!(gateway(head), None);
        assert_eq!(gateway(""), None);
    }

    #[test]
    fn an_echo_has_a_checksum_of_all_ones() {
        for sequence in [1, 0x00ff, 0xffff] {
            let packet = request(0xfff0, sequence);
            let words = packet
                .chunks_exact(2)
                .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
            let sum: u32 = words.sum();
            assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "{packet:?}");
        }
    }

    #[test]
    fn a_reply_has_the_same_numbers() {
        let sent = request(7, 9);
        let packet = |icmp: [u8; 8]| [&[0x45; 20][..], &icmp].concat();
        let mut reply = sent;
        reply[0] = ECHO_REPLY;
        assert!(is_reply(&packet(reply), &sent));
        assert!(
            !is_reply(&packet(sent), &sent),
            "the request itself, on the loopback device"
        );
        assert!(!is_reply(&packet(reply), &request(7, 10)));
        assert!(!is_reply(&[0x4f, 1, 2], &sent));
        assert!(!is_reply(&[], &sent));
    }

    #[test]
    fn connections_are_timed() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let target = server("127.0.0.1", port).expect("it listens");
        assert_eq!(target.to_string(), format!("connecting to 127.0.0.1, port {port}"));
        let stop = AtomicBool::new(false);
        let found = std::thread::scope(|scope| {
            let probing = scope.spawn(|| probe(&target, &stop));
            sleep(Duration::from_millis(20));
            stop.store(true, Ordering::Relaxed);
            probing.join().expect("no panic").expect("it connects")
        });
        assert!(matches!(found[..], [Some(ms)] if ms < 1e3), "{found:?}");
    }
}
