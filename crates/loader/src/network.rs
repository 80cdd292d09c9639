// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a process has in its network namespace, which may be another one than this program's.

use std::collections::HashMap;
use std::{fs, io};

use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_UDP};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use netlink_packet_sock_diag::SockDiagMessage;

use crate::namespace::{inside, is_other};
use crate::sockets::{flows, told_sockets_of, Flow};
use crate::{sock_diag, Result};

/// The sockets of a process.
#[derive(Debug, Default)]
pub struct Network {
    /// Its network namespace is another one than this program's.
    pub is_other: bool,
    pub flows: Vec<Flow>,
    /// `None`: the kernel does not tell.
    pub udp: Option<Udp>,
}

/// UDP sockets that have a port. UDP does not yield.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Udp {
    pub sockets: usize,
    /// Of them: connected to port 443; or to no peer, from a port that the kernel has chosen.
    pub perhaps_quic: usize,
}

impl Udp {
    fn of(all: impl Iterator<Item = bool>) -> Self {
        all.fold(Self::default(), |sum, perhaps_quic| Self {
            sockets: sum.sockets + 1,
            perhaps_quic: sum.perhaps_quic + usize::from(perhaps_quic),
        })
    }
}

/// Why the sockets of a process are not known.
#[derive(Debug)]
pub enum Untold {
    /// They are another user's.
    Others,
    /// Its network namespace cannot be entered.
    Closed(io::Error),
}

/// What this program can see of a process; one that has ended has nothing.
/// The outer error: the kernel does not tell its TCP sockets.
pub fn of_process(pid: u32) -> Result<std::result::Result<Network, Untold>> {
    let Some(own) = told_sockets_of(pid) else {
        return Ok(Err(Untold::Others));
    };
    let looked = inside(pid, || -> Result<Network> {
        Ok(Network {
            flows: flows()?.into_iter().filter(|flow| own.contains(&flow.inode)).collect(),
            udp: udp_sockets()
                .ok()
                .map(|all| Udp::of(own.iter().filter_map(|inode| all.get(inode).copied()))),
            ..Network::default()
        })
    });
    match looked {
        Ok(found) => Ok(Ok(Network {
            is_other: is_other(pid).unwrap_or(false),
            ..found?
        })),
        Err(why) => Ok(Err(Untold::Closed(why))),
    }
}

/// Inodes of the UDP sockets of this network namespace that have a port, and whether each is perhaps one of QUIC.
fn udp_sockets() -> io::Result<HashMap<u32, bool>> {
    let mut found = HashMap::new();
    let first = first_chosen();
    for (family, socket_id) in [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())] {
        let request = InetRequest {
            family,
            protocol: IPPROTO_UDP,
            extensions: ExtensionFlags::empty(),
            states: StateFlags::all(),
            socket_id,
        };
        sock_diag::dump(SockDiagMessage::InetRequest(request), &mut |answer| {
            if let SockDiagMessage::InetResponse(response) = answer {
                let id = &response.header.socket_id;
                let quic = is_perhaps_quic(id.source_port, id.destination_port, first);
                found.insert(response.header.inode, quic);
            }
        })?;
    }
    Ok(found)
}

/// Port of QUIC's servers, which --quic=tcp refuses.
const HTTPS: u16 = 443;

/// A `peer` of 0: it is not connected, and may send to any port.
fn is_perhaps_quic(local: u16, peer: u16, first_chosen: u16) -> bool {
    match peer {
        0 => local >= first_chosen,
        peer => peer == HTTPS,
    }
}

/// The first port that the kernel gives to a socket without one, in this network namespace.
fn first_chosen() -> u16 {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let first = range.split_whitespace().next().and_then(|port| port.parse().ok());
    first.unwrap_or(32768) // Linux's default
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;

    #[test]
    fn sockets_of_this_process() {
        let look = || {
            let found = of_process(std::process::id()).expect("the kernel tells");
            found.expect("this process may look at itself")
        };
        let before = look().udp;
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let _socket = UdpSocket::bind("[::1]:0").or_else(|_| UdpSocket::bind("127.0.0.1:0"));
        let found = look();
        let own = client.local_addr().expect("connected");
        assert!(found.flows.iter().any(|flow| flow.local == own));
        assert!(!found.is_other);
        assert!(
            before.is_none() || found.udp.is_some_and(|udp| udp.sockets > 0),
            "{:?}",
            found.udp
        );
    }

    #[test]
    fn what_is_perhaps_quic() {
        for (local, peer, perhaps) in [
            (40_000, 443, true),
            (40_000, 0, true),
            (40_000, 53, false),
            (53, 0, false),
            (443, 40_000, false),
        ] {
            assert_eq!(is_perhaps_quic(local, peer, 32768), perhaps, "{local} to {peer}");
        }
        let counted = Udp::of([true, false, true].into_iter());
        assert_eq!((counted.sockets, counted.perhaps_quic), (3, 2));
    }

    #[test]
    fn a_process_that_has_ended_has_nothing() {
        assert!(matches!(of_process(i32::MAX as u32), Ok(Err(Untold::Others))));
    }
}
