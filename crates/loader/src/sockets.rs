// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The machine's TCP sockets: which there are, what each does, and whose it is.

mod owner;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;

use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::{Nla, TcpInfo};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use netlink_packet_sock_diag::SockDiagMessage;
use serde::Serialize;

use crate::group::Group;
use crate::shared::POLICY_TOS;
use crate::{sock_diag, Error, Result};

pub(crate) use owner::told_sockets_of;
pub use owner::{name_of, owners, sockets_of, Owner};

/// How many connections there are, and how many of them send with DSCP LE now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub all: usize,
    pub marked: usize,
}

/// Connections that exist, by the name of their congestion control. Listeners are none.
pub fn by_congestion_control() -> Result<BTreeMap<String, Count>> {
    let mut counts: BTreeMap<_, Count> = BTreeMap::new();
    each(ExtensionFlags::CONG | MARKS, &mut |response| {
        if let Some(name) = congestion_control(&response) {
            let count = counts.entry(name).or_default();
            count.all += 1;
            count.marked += usize::from(dscp(&response) == LE);
        }
    })?;
    Ok(counts)
}

/// Both, as an IPv6 socket may send IPv4.
const MARKS: ExtensionFlags = ExtensionFlags::TOS.union(ExtensionFlags::TCLASS);
const LE: u8 = POLICY_TOS as u8 >> 2;

/// The code point that it sends with.
fn dscp(response: &InetResponse) -> u8 {
    let sends_ipv4 = response.header.socket_id.destination_address.to_canonical().is_ipv4();
    let mark = response.nlas.iter().find_map(|nla| match nla {
        Nla::Tos(tos) if sends_ipv4 => Some(tos),
        Nla::Tc(class) if !sends_ipv4 => Some(class),
        _ => None,
    });
    mark.map_or(0, |mark| mark >> 2)
}

/// All that are no listeners, of both families, with the extensions asked for.
pub(crate) fn each(extensions: ExtensionFlags, on_socket: &mut dyn FnMut(InetResponse)) -> Result<()> {
    for (family, id) in [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())] {
        dump(family, id, extensions.clone(), on_socket).map_err(Error::Sockets)?;
    }
    Ok(())
}

pub(crate) fn congestion_control(response: &InetResponse) -> Option<String> {
    response.nlas.iter().find_map(|nla| match nla {
        Nla::Congestion(name) => Some(name.trim_end_matches('\0').to_owned()),
        _ => None,
    })
}

fn dump(
    family: u8,
    socket_id: SocketId,
    extensions: ExtensionFlags,
    on_socket: &mut dyn FnMut(InetResponse),
) -> io::Result<()> {
    let request = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions,
        states: StateFlags::all() & !StateFlags::LISTEN,
        socket_id,
    };
    sock_diag::dump(SockDiagMessage::InetRequest(request), &mut |answer| {
        if let SockDiagMessage::InetResponse(response) = answer {
            on_socket(*response);
        }
    })
}

/// The least window that a download may need, in segments.
const LEAST_SEGMENTS: u64 = 2;
/// RFC 7323.
const MOST_SCALE: u8 = 14;
/// Below it timers and interrupts alone make round trips several times as long, microseconds.
const LEAST_BASE_US: u32 = 250;
/// Timeouts in a row: 1.4 s at least.
const STUCK: u8 = 3;

/// One end of a connection.
#[derive(Debug, Clone, Serialize)]
pub struct Flow {
    pub local: SocketAddr,
    pub peer: SocketAddr,
    pub state: &'static str,
    pub congestion_control: String,
    /// Of the socket; 0 when no process has it any more.
    pub inode: u32,
    /// Has it data that the peer has not acknowledged?
    #[serde(skip)]
    pub pending: bool,
    /// What it may have in flight, in bytes.
    pub window: u64,
    /// Smoothed round trip, in microseconds; 0 until one is measured.
    pub rtt_us: u32,
    /// The least that the kernel has seen in some minutes.
    pub base_us: u32,
    /// It is so small that the kernel has it from a wrong stamp: [`crate::base`].
    pub base_is_doubtful: bool,
    /// Bytes that the peer has acknowledged; the end that opened the connection counts one more, its SYN.
    pub sent: u64,
    /// Bytes that arrived in order.
    pub received: u64,
    /// The code point (DSCP) that it sends with: LE is 1.
    pub dscp: u8,
    /// Of what it receives, at most, in bytes.
    #[serde(skip)]
    pub segment: u32,
    /// What it receives is granted in units of 2 to the power of this, in bytes.
    pub receive_scale: u8,
    /// Times in a row that nothing was acknowledged for so long that it has sent again.
    pub timeouts: u8,
}

impl Flow {
    /// What its packets wait in queues: the round trip less the base, in microseconds; `None`: not known.
    pub fn queue_us(&self) -> Option<u32> {
        (!self.base_is_doubtful).then(|| self.rtt_us.saturating_sub(self.base_us))
    }

    /// That its congestion control is of; `None` for those of others.
    pub fn level(&self) -> Option<u32> {
        Group::level_of(&self.congestion_control)
    }

    /// Marked DSCP LE.
    pub fn is_marked(&self) -> bool {
        self.dscp == LE
    }

    /// In the background it cannot yield well with what it receives. Units of its window scale are larger than the two
    /// segments that a level may need.
    pub fn is_coarse(&self) -> bool {
        let unit = 1u64 << self.receive_scale.min(MOST_SCALE);
        let is_upload = self.sent > self.received.max(unit);
        !is_upload && unit > LEAST_SEGMENTS * u64::from(self.segment)
    }

    /// Marked, and nothing that it sends arrives.
    pub fn is_stuck(&self) -> bool {
        self.is_marked() && self.timeouts >= STUCK
    }

    fn of(response: &InetResponse) -> Option<Self> {
        let info = response.nlas.iter().find_map(|nla| match nla {
            Nla::TcpInfo(info) => Some(info),
            _ => None,
        })?;
        let header = &response.header;
        let id = &header.socket_id;
        let congestion_control = congestion_control(response)?;
        let (rtt_us, base_us) = (measured(info), least(info));
        let is_ours = Group::level_of(&congestion_control).is_some();
        Some(Self {
            local: SocketAddr::new(id.source_address, id.source_port),
            peer: SocketAddr::new(id.destination_address, id.destination_port),
            state: state(header.state)?,
            congestion_control,
            inode: header.inode,
            pending: info.unacked > 0 || info.notsent_bytes > 0,
            window: u64::from(info.snd_cwnd) * u64::from(info.snd_mss),
            rtt_us,
            base_us,
            base_is_doubtful: is_ours && is_doubtful(base_us, rtt_us),
            sent: info.bytes_acked,
            received: info.bytes_received,
            dscp: dscp(response),
            segment: match info.bytes_received {
                0 => info.advmss, // the kernel's guess is less, until data comes
                _ => info.rcv_mss,
            },
            receive_scale: info.wscale >> 4,
            timeouts: info.retransmits,
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

fn least(info: &TcpInfo) -> u32 {
    match info.min_rtt {
        u32::MAX => 0, // as tcp(7) has it for none
        base => base,
    }
}

/// A connection that yields has no queue of so many round trips for long.
pub(crate) fn is_doubtful(base_us: u32, rtt_us: u32) -> bool {
    base_us > 0 && rtt_us / 8 > base_us.max(LEAST_BASE_US)
}

/// Every connection that is established or closing.
/// The kernel does not tell.
pub fn flows() -> Result<Vec<Flow>> {
    let mut flows = Vec::new();
    each(ExtensionFlags::CONG | ExtensionFlags::INFO | MARKS, &mut |response| {
        flows.extend(Flow::of(&response));
    })?;
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
        let end = |local| all.iter().find(|flow| flow.local == local).expect("is there");
        let one = end(client.local_addr().expect("connected"));
        assert_eq!((one.peer, one.state), (to, "established"));
        assert_eq!(one.sent, 1 + 4096);
        assert!(one.window > 0 && one.base_us <= one.rtt_us);
        let other = all.iter().find(|flow| flow.local == to && flow.peer == one.local);
        assert_eq!(other.expect("is there").received, 4096);
    }

    #[test]
    fn large_units_count_for_downloads_alone() {
        let mut flow = idle();
        for (scale, sent, received, coarse) in [
            (8, 0, 1 << 20, false),
            (11, 0, 1 << 20, false), // two segments have more than 2 KiB
            (12, 0, 1 << 20, true),
            (14, 1, 0, true), // it may become a download
            (14, 1 << 20, 300, false),
            (14, 1 << 20, 1 << 21, true),
        ] {
            (flow.receive_scale, flow.sent, flow.received) = (scale, sent, received);
            assert_eq!(
                flow.is_coarse(),
                coarse,
                "scale {scale}, {sent} sent, {received} received"
            );
        }
    }

    fn idle() -> Flow {
        Flow {
            local: SocketAddr::from(([192, 0, 2, 1], 40_000)),
            peer: SocketAddr::from(([192, 0, 2, 2], 443)),
            state: "established",
            congestion_control: "netnice".to_owned(),
            inode: 1,
            pending: false,
            window: 14_480,
            rtt_us: 0,
            base_us: 0,
            base_is_doubtful: false,
            sent: 0,
            received: 0,
            dscp: 0,
            segment: 1448,
            receive_scale: 7,
            timeouts: 0,
        }
    }
}
