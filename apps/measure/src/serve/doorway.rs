// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Who waits to be let in: so many at most, so many of one address, and of a full house a random one leaves.
//!
//! As sshd's MaxStartups: a flood can fill the doorway, but not keep everybody else out of it for long.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use tokio::task::AbortHandle;

/// Waiting at the same time, each for a few seconds.
const MOST: usize = 512;
/// Of one IPv4 address, or one IPv6 network of 64 bits.
const MOST_OF_ONE: usize = 64;

/// Connections that have not yet proved anything.
#[derive(Debug, Default)]
pub struct Doorway {
    waiting: HashMap<u64, (IpAddr, AbortHandle)>,
    of_one: HashMap<IpAddr, usize>,
    next: u64,
}

impl Doorway {
    /// Is there room for one more of this address?
    #[must_use]
    pub fn has_room(&self, address: IpAddr) -> bool {
        self.of_one
            .get(&network(address))
            .is_none_or(|&count| count < MOST_OF_ONE)
    }

    /// The number of the next to enter.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Somebody waits; if that is one too many, a random one has to leave.
    pub fn enter(&mut self, number: u64, address: IpAddr, handle: AbortHandle) {
        if self.waiting.len() >= MOST {
            let unlucky = fastrand::usize(..self.waiting.len());
            if let Some(&number) = self.waiting.keys().nth(unlucky) {
                self.leave(number).inspect(AbortHandle::abort);
            }
        }
        let address = network(address);
        *self.of_one.entry(address).or_default() += 1;
        self.waiting.insert(number, (address, handle));
    }

    /// It waits no longer, for whatever reason.
    pub fn leave(&mut self, number: u64) -> Option<AbortHandle> {
        let (address, handle) = self.waiting.remove(&number)?;
        if let Some(count) = self.of_one.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.of_one.remove(&address);
            }
        }
        Some(handle)
    }
}

/// Whoever has one IPv6 address has 2^64 of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting() -> AbortHandle {
        tokio::spawn(std::future::pending::<()>()).abort_handle()
    }

    #[tokio::test]
    async fn one_address_cannot_fill_it() {
        let mut doorway = Doorway::default();
        let one: IpAddr = "2001:db8::1".parse().expect("an address");
        for _ in 0..MOST_OF_ONE {
            assert!(doorway.has_room(one));
            let number = doorway.number();
            doorway.enter(number, one, waiting());
        }
        assert!(!doorway.has_room("2001:db8::2".parse().expect("an address")));
        assert!(doorway.has_room("2001:db8:0:1::1".parse().expect("an address")));
        doorway.leave(1);
        assert!(doorway.has_room(one));
    }

    #[tokio::test]
    async fn a_full_one_lets_a_random_one_go() {
        let mut doorway = Doorway::default();
        let mut handles = Vec::new();
        for n in 0..MOST as u32 + 1 {
            let number = doorway.number();
            let handle = waiting();
            handles.push(handle.clone());
            doorway.enter(number, IpAddr::V4(n.into()), handle);
        }
        assert_eq!(doorway.waiting.len(), MOST);
        assert_eq!(doorway.of_one.len(), MOST);
        let ended = || handles.iter().filter(|handle| handle.is_finished()).count();
        while ended() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(ended(), 1);
    }
}
