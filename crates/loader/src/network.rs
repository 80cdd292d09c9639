// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a process has in its network namespace, which may be another one than this program's.

use std::collections::HashSet;
use std::io;

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
    /// UDP does not yield. `None`: the kernel does not tell.
    pub udp: Option<usize>,
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
            udp: udp_sockets().ok().map(|all| all.intersection(&own).count()),
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

/// Inodes of the UDP sockets of this network namespace that have a port.
fn udp_sockets() -> io::Result<HashSet<u32>> {
    let mut found = HashSet::new();
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
                found.insert(response.header.inode);
            }
        })?;
    }
    Ok(found)
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
        assert!(before.is_none() || found.udp > Some(0), "{:?}", found.udp);
    }

    #[test]
    fn a_process_that_has_ended_has_nothing() {
        assert!(matches!(of_process(i32::MAX as u32), Ok(Err(Untold::Others))));
    }
}
