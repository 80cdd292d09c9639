// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a process has besides TCP connections that are seen: UDP, another network namespace, or what is not told.

use anyhow::Result;
use netnice_loader::facts::privileged;
use netnice_loader::network::{of_process, Network, Untold};
use netnice_loader::sockets::Flow;
use serde::Serialize;

#[derive(Debug, Default, Serialize)]
pub struct OfNetwork {
    /// Its network namespace is another one than this command's.
    pub other_network_namespace: bool,
    /// `None`: not told.
    pub udp_sockets: Option<usize>,
    /// Of these.
    pub perhaps_quic_sockets: Option<usize>,
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
                    udp_sockets: udp.map(|udp| udp.sockets),
                    perhaps_quic_sockets: udp.map(|udp| udp.perhaps_quic),
                    untold: None,
                },
            ),
            Err(why) => (Vec::new(), Self::untold(pid, &why, privileged())),
        })
    }

    fn untold(pid: u32, why: &Untold, is_root: bool) -> Self {
        let said = match why {
            Untold::Closed(why) if is_root => format!(
                "its network namespace cannot be entered: {why}. On the host: 'sudo netnicectl explain PID', with its PID there"
            ),
            _ => format!("only root can see them: 'sudo netnicectl explain {pid}'"),
        };
        Self {
            other_network_namespace: matches!(why, Untold::Closed(_)),
            untold: Some(said),
            ..Self::default()
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
            let remedy = match self.perhaps_quic_sockets {
                Some(0) => "",
                _ => "; for QUIC: 'netnice --quic=tcp COMMAND'",
            };
            said.push(format!("UDP sockets: {number}. UDP does not yield{remedy}"));
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
            perhaps_quic_sockets: Some(1),
            untold: None,
        };
        let said = both.remarks(4711).join("\n");
        assert!(
            said.contains("nsenter -t 4711 -n netnicectl top") && said.contains("UDP sockets: 2"),
            "{said}"
        );
        assert!(said.ends_with("for QUIC: 'netnice --quic=tcp COMMAND'"), "{said}");
        let resolver = OfNetwork {
            udp_sockets: Some(2),
            perhaps_quic_sockets: Some(0),
            ..OfNetwork::default()
        };
        assert_eq!(resolver.remarks(4711), ["UDP sockets: 2. UDP does not yield"]);
    }

    #[test]
    fn what_is_not_told_names_a_command() {
        let said = |why: Untold, is_root| OfNetwork::untold(4711, &why, is_root).remarks(4711).join("\n");
        let closed = || Untold::Closed(io::Error::from_raw_os_error(1));
        for why in [Untold::Others, closed()] {
            assert!(said(why, false).contains("only root can see them: 'sudo netnicectl explain 4711'"));
        }
        let root = said(closed(), true);
        assert!(root.contains("On the host") && root.contains("not permitted"), "{root}");
    }
}
