// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The TCP connections of this network namespace: what each runs on, and what the kernel has measured of it.

use std::net::SocketAddr;

use netlink_packet_sock_diag::inet::nlas::{Nla, TcpInfo};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetResponse};
use serde::Serialize;

use crate::group::Group;
use crate::{sockets, Result};

/// One end of a connection.
#[derive(Debug, Clone, Serialize)]
pub struct Flow {
    pub local: SocketAddr,
    pub peer: SocketAddr,
    pub state: &'static str,
    pub congestion_control: String,
    /// Of the socket; 0 when no process has it any more.
    pub inode: u32,
    /// What it may have in flight, in bytes.
    pub window: u64,
    /// Smoothed round trip, in microseconds; 0 until one is measured.
    pub rtt_us: u32,
    /// The least that the kernel has seen in some minutes.
    pub base_us: u32,
    /// Bytes that the peer has acknowledged; who opened the connection counts one more, its SYN.
    pub sent: u64,
    /// Bytes that arrived in order.
    pub received: u64,
}

impl Flow {
    /// What its packets wait in queues: the round trip less the base, in microseconds.
    pub fn queue_us(&self) -> u32 {
        self.rtt_us.saturating_sub(self.base_us)
    }

    /// That its congestion control is of; `None` for those of others.
    pub fn level(&self) -> Option<u32> {
        Group::level_of(&self.congestion_control)
    }

    fn of(response: &InetResponse) -> Option<Self> {
        let info = response.nlas.iter().find_map(|nla| match nla {
            Nla::TcpInfo(info) => Some(info),
            _ => None,
        })?;
        let header = &response.header;
        let id = &header.socket_id;
        Some(Self {
            local: SocketAddr::new(id.source_address, id.source_port),
            peer: SocketAddr::new(id.destination_address, id.destination_port),
            state: state(header.state)?,
            congestion_control: sockets::congestion_control(response)?,
            inode: header.inode,
            window: u64::from(info.snd_cwnd) * u64::from(info.snd_mss),
            rtt_us: measured(info),
            base_us: match info.min_rtt {
                u32::MAX => 0, // as tcp(7) has it for none
                base => base,
            },
            sent: info.bytes_acked,
            received: info.bytes_received,
        })
    }
}

/// The end that only receives data has no round trip but the receiver's own.
fn measured(info: &TcpInfo) -> u32 {
    if info.rtt != 0 {
        info.rtt
    } else {
        info.rcv_rtt
    }
}

/// Every connection that is established or closing.
///
/// # Errors
/// The kernel does not tell.
pub fn flows() -> Result<Vec<Flow>> {
    let mut flows = Vec::new();
    sockets::each(
        ExtensionFlags::CONG | ExtensionFlags::INFO,
        &mut |response| {
            flows.extend(Flow::of(&response));
        },
    )?;
    Ok(flows)
}

/// As ss(8) calls it; `None` for what carries no data.
fn state(number: u8) -> Option<&'static str> {
    Some(match number {
        1 => "established",
        4 => "fin-wait-1",
        5 => "fin-wait-2",
        8 => "close-wait",
        9 => "last-ack",
        11 => "closing",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn both_ends_of_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let to = listener.local_addr().expect("bound");
        let mut client = TcpStream::connect(to).expect("it listens");
        let (mut server, _) = listener.accept().expect("it connects");
        client.write_all(&[0; 4096]).expect("room");
        server.read_exact(&mut [0; 4096]).expect("sent");
        let all = flows().expect("the kernel tells");
        let end = |local| {
            all.iter()
                .find(|flow| flow.local == local)
                .expect("is there")
        };
        let one = end(client.local_addr().expect("connected"));
        assert_eq!((one.peer, one.state), (to, "established"));
        assert_eq!(one.sent, 1 + 4096);
        assert!(one.window > 0 && one.base_us <= one.rtt_us);
        let other = all
            .iter()
            .find(|flow| flow.local == to && flow.peer == one.local);
        assert_eq!(other.expect("is there").received, 4096);
    }
}
