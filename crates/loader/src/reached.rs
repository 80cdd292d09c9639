// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What became of processes that run, when they were to yield or no longer to.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use crate::live::Switched;
use crate::Result;

#[derive(Debug, Default)]
pub struct Reached {
    pub processes: usize,
    /// Connections and listening sockets that are as asked now.
    pub sockets: usize,
    /// Those that are not, and the last reason.
    pub missed: usize,
    pub reason: Option<String>,
}

impl Reached {
    /// Of one process.
    pub(crate) fn of(pid: u32, switched: Result<Switched>) -> Self {
        match switched {
            Ok(done) => {
                let refused = done.reason.map(|why| why.to_string());
                let unadopted = done.unadopted_reason.map(|why| why.to_string());
                Self {
                    processes: 1,
                    sockets: done.sockets,
                    missed: done.refused + done.unadopted,
                    reason: refused.or(unadopted),
                }
            }
            Err(_) if !Path::new(&format!("/proc/{pid}")).exists() => Self::default(), // it has ended
            Err(why) => Self::missed(why.to_string()),
        }
    }

    pub(crate) fn missed(reason: String) -> Self {
        Self {
            missed: 1,
            reason: Some(reason),
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.processes += other.processes;
        self.sockets += other.sockets;
        self.missed += other.missed;
        self.reason = other.reason.or(self.reason.take());
    }

    /// What to say of the sockets that are not as asked.
    pub fn why(&self) -> Option<String> {
        let reason = self.reason.as_ref()?;
        let missed = self.missed;
        Some(format!(
            "{missed} sockets in use are as they were: {reason}"
        ))
    }
}

impl Display for Reached {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (processes, sockets) = (self.processes, self.sockets);
        write!(f, "processes: {processes}, their TCP sockets: {sockets}")
    }
}
