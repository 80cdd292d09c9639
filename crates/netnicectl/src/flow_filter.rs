// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A filter for connections by one end or both, as ss(8) prints them.

use std::net::SocketAddr;
use std::str::FromStr;

use netnice_loader::sockets::Flow;

/// One end: an address with a port, or a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Address(SocketAddr),
    Port(u16),
}

impl End {
    fn is(self, address: SocketAddr) -> bool {
        match self {
            Self::Address(own) => own == plain(address),
            Self::Port(port) => port == address.port(),
        }
    }
}

/// Of a v4-mapped address the IPv4 one, as people write it.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

impl FromStr for End {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some(port) = text.strip_prefix(':') {
            return port.parse().map(Self::Port).map_err(drop);
        }
        text.parse().map(|a| Self::Address(plain(a))).map_err(drop)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowFilter(End, Option<End>);

impl FlowFilter {
    /// In either order.
    pub fn matches(&self, flow: &Flow) -> bool {
        let both = |a, b| self.0.is(a) && self.1.is_none_or(|other| other.is(b));
        both(flow.local, flow.peer) || both(flow.peer, flow.local)
    }
}

impl FromStr for FlowFilter {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.split_once('-') {
            None => Ok(Self(text.parse()?, None)),
            Some((one, other)) => Ok(Self(one.parse()?, Some(other.parse()?))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_they_are_written() {
        for text in [
            ":443",
            "192.0.2.1:443",
            "[2001:db8::1]:443",
            "192.0.2.1:1-192.0.2.2:2",
            ":1-:2",
        ] {
            assert!(text.parse::<FlowFilter>().is_ok(), "{text}");
        }
        for text in ["443", "cron.service", "a:b", ":", ":70000", "docker-3f.scope", ""] {
            assert!(text.parse::<FlowFilter>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_mapped_address_is_the_one_that_people_write() {
        let end: End = "192.0.2.1:443".parse().expect("valid");
        assert!(end.is("[::ffff:192.0.2.1]:443".parse().expect("valid")));
        assert!(!end.is("192.0.2.1:80".parse().expect("valid")));
    }
}
