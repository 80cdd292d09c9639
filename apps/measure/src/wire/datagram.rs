// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Datagrams of a session: the server sends back what carries the session's own tag, as long as it came, and no other.

use crate::token::{mac, same, Proof};

/// Bytes of a datagram before what only fills it: session, number, tag.
const SHORTEST: usize = 8 + 8 + TAG;
const TAG: usize = 16;

/// A session and its key.
#[derive(Debug, Clone, Copy)]
pub struct Session {
    pub number: u64,
    pub key: Proof,
}

/// One datagram, without what fills it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    pub session: u64,
    pub number: u64,
}

impl Session {
    /// Writes a datagram at the beginning of `buffer`, which is as long as it will be.
    pub fn seal(&self, number: u64, buffer: &mut [u8]) {
        buffer[..8].copy_from_slice(&self.number.to_be_bytes());
        buffer[8..16].copy_from_slice(&number.to_be_bytes());
        let tag = self.tag(&buffer[..16]);
        buffer[16..SHORTEST].copy_from_slice(&tag[..TAG]);
    }

    /// Does this datagram come from somebody who knows the key?
    #[must_use]
    pub fn opens(&self, buffer: &[u8]) -> bool {
        buffer.len() >= SHORTEST && same(&self.tag(&buffer[..16])[..TAG], &buffer[16..SHORTEST])
    }

    fn tag(&self, head: &[u8]) -> Proof {
        mac(&self.key, &[b"datagram", head])
    }
}

impl Datagram {
    /// What it says to be, before its tag is looked at.
    #[must_use]
    pub fn read(buffer: &[u8]) -> Option<Self> {
        if buffer.len() < SHORTEST {
            return None;
        }
        let word =
            |at: usize| u64::from_be_bytes(buffer[at..at + 8].try_into().expect("eight bytes"));
        Some(Self {
            session: word(0),
            number: word(8),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_opens_it() {
        let session = Session {
            number: 7,
            key: [1; 32],
        };
        let mut buffer = [0; 200];
        session.seal(9, &mut buffer);
        assert_eq!(
            Datagram::read(&buffer),
            Some(Datagram {
                session: 7,
                number: 9
            })
        );
        assert!(session.opens(&buffer));
        assert!(!Session {
            number: 7,
            key: [2; 32]
        }
        .opens(&buffer));
        buffer[15] ^= 1;
        assert!(!session.opens(&buffer));
        assert_eq!(Datagram::read(&buffer[..SHORTEST - 1]), None);
    }
}
