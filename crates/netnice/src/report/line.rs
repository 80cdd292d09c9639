// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is said of COMMAND's connections, in a line.

use std::fmt::{self, Display, Formatter};

use netnice_loader::senders::Sender;
use serde::Serialize;

/// What was seen of COMMAND's connections.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pub command: String,
    pub connections: usize,
    pub yielded: usize,
    /// Bytes of all connections.
    pub sent: u64,
    pub received: u64,
    pub seconds: f64,
    /// Downloads that yielded. Their queue is read with root's rights alone.
    pub untold_downloads: usize,
    /// Another connection that yielded saw a queue; `None`: there was no other.
    pub yielded_seconds: Option<f64>,
    /// A connection that yielded had data to send, and none was acknowledged for a second.
    pub starved_seconds: f64,
    /// Processes that send for it.
    pub senders: Vec<Sender>,
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            command,
            connections,
            yielded,
            ..
        } = self;
        match (connections, yielded) {
            (0, _) => write!(f, "{command}: no connection of it yielded: none was seen")?,
            (all, 0) => write!(f, "{command}: no connection of it yielded: {all} in the foreground")?,
            (all, yielded) => write!(f, "{command}: {yielded} of {all} connections yielded")?,
        }
        write!(
            f,
            ", {} sent, {} received in {:.1} s; ",
            size(self.sent),
            size(self.received),
            self.seconds
        )?;
        match (self.yielded_seconds, self.untold_downloads) {
            (Some(seconds), 0) => write!(f, "yielded for {seconds:.1} s")?,
            (Some(seconds), _) => write!(
                f,
                "yielded for {seconds:.1} s, downloads not counted: only root sees their queue"
            )?,
            (None, _) => write!(f, "only root sees for how long downloads yielded")?,
        }
        write!(f, ", starved for {:.1} s", self.starved_seconds)?;
        match self.yielded {
            0 => self.senders.iter().try_for_each(|sender| write!(f, "; {sender}")),
            _ => Ok(()),
        }
    }
}

/// Bytes as a person reads them.
fn size(bytes: u64) -> String {
    let mut number = bytes as f64;
    let mut units = ["B", "kB", "MB", "GB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for next in units {
        if number < 1000.0 {
            break;
        }
        (number, unit) = (number / 1000.0, next);
    }
    match unit {
        "B" => format!("{bytes} B"),
        _ => format!("{number:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use netnice_loader::senders::Way;

    use super::*;

    #[test]
    fn one_line() {
        let report = Report {
            command: "rsync".to_owned(),
            connections: 3,
            yielded: 2,
            sent: 12_345_678,
            received: 999,
            seconds: 12.34,
            yielded_seconds: Some(3.0),
            ..Report::default()
        };
        assert_eq!(
            report.to_string(),
            "rsync: 2 of 3 connections yielded, 12.3 MB sent, 999 B received in 12.3 s; \
             yielded for 3.0 s, starved for 0.0 s"
        );
    }

    #[test]
    fn what_only_root_sees_has_no_seconds() {
        let mut report = Report {
            command: "curl".to_owned(),
            connections: 1,
            yielded: 1,
            untold_downloads: 1,
            ..Report::default()
        };
        let said = report.to_string();
        assert!(
            said.ends_with("; only root sees for how long downloads yielded, starved for 0.0 s"),
            "{said}"
        );
        report.yielded_seconds = Some(1.5);
        assert!(report
            .to_string()
            .contains("; yielded for 1.5 s, downloads not counted"));
    }

    #[test]
    fn the_process_that_sends_is_named_if_none_yielded() {
        let sender = Sender {
            pid: Some(4711),
            program: "ssh".to_owned(),
            way: Way::SshMaster,
            level: None,
            asked_by: Some(0),
        };
        let mut report = Report {
            command: "rsync".to_owned(),
            senders: vec![sender],
            ..Report::default()
        };
        let said = report.to_string();
        assert!(said.starts_with("rsync: no connection of it yielded"), "{said}");
        assert!(said.contains("process 4711 (ssh) sends for it"), "{said}");
        report.yielded = 1;
        report.connections = 1;
        assert!(!report.to_string().contains("4711"));
    }
}
