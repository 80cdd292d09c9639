// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Puts netnice's eBPF objects into the kernel, keeps them there and takes them out again.
//!
//! Nothing of this runs while data flows: [`up()`] pins what it loads and is done, [`down()`] takes
//! it all away. Both may be killed at any [`Step`]; the next [`up()`] repairs what it finds.

pub mod attachments;
pub mod base;
pub mod bpffs;
pub mod catalogue;
pub mod causes;
pub mod cgroup;
pub mod container;
pub mod deadline;
pub mod doctor;
mod error;
pub mod facts;
pub mod floor;
pub mod group;
mod lifecycle;
pub mod live;
mod lock;
pub mod moment;
mod namespace;
pub mod network;
pub mod niceness;
mod object;
pub mod pins;
pub mod policy;
pub mod quic;
pub mod receiver;
pub mod rules;
mod sender;
pub mod senders;
pub mod settings;
pub mod settling;
mod sock_diag;
pub mod sockets;
pub mod status;
mod step;
mod table;
pub mod waiting;

pub use error::{Error, Result};
pub use lifecycle::{down, is_up, up, Outcome, Removed};
pub use settings::UpOptions;
pub use step::Step;

/// Identifies the eBPF objects inside this binary: a hash of their bytes.
pub const BUILD_ID: &str = env!("NETNICE_BUILD_ID");

/// What the eBPF programs and we both know, as their headers have it.
#[allow(non_camel_case_types, non_upper_case_globals, dead_code)]
mod shared {
    include!(concat!(env!("OUT_DIR"), "/shared.rs"));
}
