// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the two ends say to each other.
//!
//! A connection is authenticated, asks for one thing, and is that thing from then on:
//!
//! | client           | server                  | bytes |
//! | ---------------- | ----------------------- | ----: |
//! | `MAGIC`, nonce   |                         | 40    |
//! |                  | nonce                   | 32    |
//! | proof            |                         | 32    |
//! |                  | `Y`, proof; or `N`, end | 33, 1 |
//! | [`Request`]      | [`Answer`]              | JSON  |
//! | [`GO`]: a download begins |                | 1     |
//!
//! Before the proof the server has sent less than it was sent, to an address that has answered: nobody can make it
//! send to somebody else.

mod datagram;
mod handshake;
mod message;

pub use datagram::{Datagram, Session};
pub use handshake::{admit, greet, Greeting, Refusal};
pub use message::{read, write, Answer, Request};

/// All connections of an action are granted before the first of them begins.
pub const GO: u8 = b'G';

/// Where the server listens, TCP and UDP, if not told otherwise.
pub const PORT: u16 = 28_270;
