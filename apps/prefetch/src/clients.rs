// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Clients as numbers: hashes under a key of the store. Collisions cannot be chosen, and the store holds no address.

use std::io;
use std::net::{IpAddr, Ipv6Addr};

use siphasher::sip::SipHasher24;

/// Secret, and kept with what is learned: a network has the same number after a restart, and in a log.
pub type Key = [u8; 16];

#[derive(Debug)]
pub struct Clients(SipHasher24);

impl Clients {
    pub fn new(key: &Key) -> Self {
        Self(SipHasher24::new_with_key(key))
    }

    /// The client that knows a URL. Another program, or another address of the same network, is no other client.
    pub fn network(&self, address: IpAddr) -> u64 {
        self.0.hash(&bytes(network(address)))
    }

    /// The browser whose pages follow each other.
    pub fn browser(&self, address: IpAddr, program: &[u8]) -> u64 {
        self.named(&bytes(address.to_canonical()), program)
    }

    /// As [`Self::browser`], where a log has a name for an address.
    pub fn named(&self, name: &[u8], program: &[u8]) -> u64 {
        self.0
            .hash(&[&(name.len() as u64).to_le_bytes(), name, program].concat())
    }
}

/// All 16 bytes of it as IPv6.
fn bytes(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// An IPv4 address, or the first 64 bits of an IPv6 address: a host has all addresses with them.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}

/// The kernel gives no random bytes.
pub fn new_key() -> io::Result<Key> {
    let mut key = Key::default();
    getrandom::fill(&mut key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        let clients = Clients::new(&[7; 16]);
        let number = |text: &str| clients.network(text.parse().expect("an address"));
        number(a) == number(b)
    }

    #[test]
    fn a_network_is_one_ipv4_address_or_64_bits_of_ipv6() {
        assert!(same("2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff"));
        assert!(!same("2001:db8:0:1::1", "2001:db8:0:2::1"));
        assert!(!same("192.0.2.1", "192.0.2.2"));
        assert!(same("192.0.2.1", "::ffff:192.0.2.1"));
    }

    #[test]
    fn numbers_depend_on_the_key() {
        let address = "192.0.2.1".parse().expect("an address");
        let number = |key| Clients::new(&key).network(address);
        assert_eq!(number([1; 16]), number([1; 16]));
        assert_ne!(number([1; 16]), number([2; 16]));
        assert_ne!(new_key().expect("random bytes"), new_key().expect("random bytes"));
    }

    #[test]
    fn browsers_of_an_address_are_apart() {
        let (clients, address) = (Clients::new(&[7; 16]), "192.0.2.1".parse().expect("an address"));
        assert_ne!(clients.browser(address, b"one"), clients.browser(address, b"two"));
        assert_ne!(clients.named(b"ab", b"c"), clients.named(b"a", b"bc"));
    }
}
