// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! By what way one process sends for another.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use serde::Serialize;

/// By what way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// An ssh connection that was there before.
    SshMaster,
    /// A daemon's socket.
    Daemon(PathBuf),
    /// A mount that a process serves (FUSE).
    Fuse(PathBuf),
    /// A mount of the kernel's own: NFS, SMB.
    KernelMount(PathBuf),
    /// A rootless container's network.
    Rootless,
}

impl Display for Way {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::SshMaster => f.write_str("it has the ssh connection that this one shares"),
            Self::Daemon(socket) => write!(f, "it is asked by {}", socket.display()),
            Self::Fuse(at) => write!(f, "it serves the mount {}", at.display()),
            Self::KernelMount(at) => write!(f, "it serves the mount {}", at.display()),
            Self::Rootless => f.write_str("it is the network of the rootless container"),
        }
    }
}
