// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Datagrams go back to their sender: of a session that is open, from its own address, as long as they came.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::net::UdpSocket;

use crate::wire::{Datagram, Session};

/// A second's datagrams of one session: a call has 50, beside it goes a ping.
const RATE: f64 = 200.0;
/// Longer ones are no part of a call.
const LONGEST: usize = 1500;

/// The sessions that are open.
#[derive(Debug, Clone, Default)]
pub struct Sessions(Arc<Mutex<HashMap<u64, Open>>>);

#[derive(Debug)]
struct Open {
    session: Session,
    address: IpAddr,
    allowance: f64,
    filled: Instant,
}

/// Closes its session when it goes.
#[derive(Debug)]
pub struct Closing(Sessions, u64);

impl Sessions {
    /// Datagrams of `session` from `address` go back until the guard is dropped.
    #[must_use]
    pub fn open(&self, session: Session, address: IpAddr) -> Closing {
        let open = Open {
            session,
            address: address.to_canonical(),
            allowance: RATE,
            filled: Instant::now(),
        };
        self.table().insert(session.number, open);
        Closing(self.clone(), session.number)
    }

    /// Is this to be sent back?
    fn answers(&self, datagram: &[u8], from: IpAddr, now: Instant) -> bool {
        let Some(head) = Datagram::read(datagram) else {
            return false;
        };
        let mut table = self.table();
        let Some(open) = table.get_mut(&head.session) else {
            return false;
        };
        if open.address != from.to_canonical() || !open.session.opens(datagram) {
            return false;
        }
        let passed = now.saturating_duration_since(open.filled).as_secs_f64();
        open.allowance = (open.allowance + passed * RATE).min(RATE);
        open.filled = now;
        let enough = open.allowance >= 1.0;
        if enough {
            open.allowance -= 1.0;
        }
        enough
    }

    fn table(&self) -> MutexGuard<'_, HashMap<u64, Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.table().remove(&self.1);
    }
}

/// Answers for ever.
pub async fn answer(socket: UdpSocket, sessions: Sessions) {
    let mut buffer = [0; LONGEST + 1];
    loop {
        // Errors are those of single peers (ICMP unreachable), no reason to stop.
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            tokio::task::yield_now().await;
            continue;
        };
        if length <= LONGEST && sessions.answers(&buffer[..length], from.ip(), Instant::now()) {
            socket.send_to(&buffer[..length], from).await.ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_open_session_of_the_same_address_is_answered() {
        let sessions = Sessions::default();
        let session = Session {
            number: 1,
            key: [1; 32],
        };
        let (here, there): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let mut datagram = [0; 64];
        session.seal(1, &mut datagram);
        let now = Instant::now();
        assert!(!sessions.answers(&datagram, here, now), "not open");
        let guard = sessions.open(session, here);
        assert!(sessions.answers(&datagram, here, now));
        assert!(!sessions.answers(&datagram, there, now), "another address");
        assert!(!sessions.answers(&datagram[..20], here, now), "cut off");
        let mut forged = [0; 64];
        Session {
            number: 1,
            key: [2; 32],
        }
        .seal(1, &mut forged);
        assert!(!sessions.answers(&forged, here, now), "another key");
        drop(guard);
        assert!(!sessions.answers(&datagram, here, now), "closed");
    }

    #[test]
    fn a_session_has_its_rate() {
        let sessions = Sessions::default();
        let session = Session {
            number: 1,
            key: [1; 32],
        };
        let here: IpAddr = [10, 0, 0, 1].into();
        let _guard = sessions.open(session, here);
        let mut datagram = [0; 64];
        session.seal(1, &mut datagram);
        let now = Instant::now();
        let answered = (0..1000).filter(|_| sessions.answers(&datagram, here, now)).count();
        assert_eq!(answered, RATE as usize);
    }
}
