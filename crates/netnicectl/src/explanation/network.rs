// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a process has besides TCP connections that are seen: UDP, another network namespace, or what is not told.

use anyhow::Result;
use netnice_loader::network::{of_process, Network, Untold};
use netnice_loader::sockets::Flow;
use serde::Serialize;

#[derive(Debug, Default, Serialize)]
pub struct OfNetwork {
    /// Its network namespace is another one than this command's.
    pub other_network_namespace: bool,
    /// `None`: not told.
    pub udp_sockets: Option<usize>,
    /// Why its sockets are not known, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untold: Option<String>,
}

impl OfNetwork {
    /// Of a process, and its connections.
    pub fn look(pid: u32) -> Result<(Vec<Flow>, Self)> {
        Ok(match of_process(pid)? {
            Ok(Network { is_other, flows, udp }) => (
                flows,
                Self {
                    other_network_namespace: is_other,
                    udp_sockets: udp,
                    untold: None,
                },
            ),
            Err(why) => (Vec::new(), Self::untold(pid, &why)),
        })
    }

    fn untold(pid: u32, why: &Untold) -> Self {
        let said = match why {
            Untold::Others => format!("only root can see them: 'sudo netnicectl explain {pid}'"),
            Untold::Closed(why) => format!(
                "its network namespace cannot be entered: {why}. As root: 'nsenter -t {pid} -n netnicectl explain {pid}'"
            ),
        };
        Self {
            other_network_namespace: matches!(why, Untold::Closed(_)),
            udp_sockets: None,
            untold: Some(said),
        }
    }

    /// A line each.
    pub fn remarks(&self, pid: u32) -> Vec<String> {
        let mut said = Vec::new();
        if self.other_network_namespace {
            said.push(format!(
                "in another network namespace: 'sudo nsenter -t {pid} -n netnicectl top' shows it"
            ));
        }
        said.extend(self.untold.clone());
        if let Some(number) = self.udp_sockets.filter(|number| *number > 0) {
            said.push(format!(
                "UDP sockets: {number}. UDP does not yield; for QUIC: 'netnice --quic=tcp COMMAND'"
            ));
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn what_is_not_tcp_is_said() {
        assert!(OfNetwork::default().remarks(4711).is_empty());
        let both = OfNetwork {
            other_network_namespace: true,
            udp_sockets: Some(2),
            untold: None,
        };
        let said = both.remarks(4711).join("\n");
        assert!(
            said.contains("nsenter -t 4711 -n netnicectl top") && said.contains("UDP sockets: 2"),
            "{said}"
        );
    }

    #[test]
    fn what_is_not_told_names_a_command() {
        let said = |why: Untold| OfNetwork::untold(4711, &why).remarks(4711).join("\n");
        assert!(said(Untold::Others).contains("'sudo netnicectl explain 4711'"));
        let closed = said(Untold::Closed(io::Error::from_raw_os_error(1)));
        assert!(
            closed.contains("'nsenter -t 4711 -n netnicectl explain 4711'"),
            "{closed}"
        );
    }
}
