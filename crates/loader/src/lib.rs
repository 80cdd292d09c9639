// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Puts netnice's eBPF objects into the kernel, keeps them there and takes them out again.
//!
//! Nothing of this runs while data flows: [`up()`] pins what it loads and is done, [`down()`] takes
//! it all away. Both may be killed at any [`Step`]; the next [`up()`] repairs what it finds.

pub mod attachments;
pub mod bpffs;
pub mod catalogue;
pub mod cgroup;
pub mod doctor;
mod down;
mod error;
pub mod facts;
mod finding;
pub mod flows;
pub mod group;
mod health;
pub mod holders;
pub mod kernel;
mod libbpf;
pub mod live;
mod lock;
mod mounts;
pub mod niceness;
mod object;
mod options;
pub mod owners;
pub mod params;
pub mod pins;
pub mod policy;
pub mod quic;
pub mod reached;
pub mod receiver;
mod release;
pub mod rules;
mod sender;
pub mod settings;
mod shared;
pub mod sockets;
pub mod state;
pub mod status;
mod step;
mod table;
mod up;

pub use down::{down, Removed};
pub use error::{Error, Result};
pub use options::UpOptions;
pub use step::Step;
pub use up::{is_up, up, Outcome};

/// Identifies the eBPF objects inside this binary: a hash of their bytes.
pub const BUILD_ID: &str = env!("NETNICE_BUILD_ID");
