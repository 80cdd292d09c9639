// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Of one connection: what yields of it, and what its process has it be.

use std::fmt::{self, Display, Formatter};

use anyhow::Result;
use netnice_loader::sockets::{flows, owners, Flow};
use serde::Serialize;

use super::{OfProcess, COARSE};
use crate::traffic::FlowFilter;

#[derive(Debug, Serialize)]
pub struct OfSocket {
    #[serde(flatten)]
    flow: Flow,
    /// Does its incoming traffic yield? `None`: only root can see it.
    receiving: Option<bool>,
    /// `None`: it is not told to you, or none has it any more.
    process: Option<OfProcess>,
}

impl OfSocket {
    pub fn all(filter: &FlowFilter) -> Result<Vec<Self>> {
        let owners = owners();
        let found = flows()?.into_iter().filter(|flow| filter.matches(flow));
        found
            .map(|flow| {
                let owner = owners.get(&flow.inode);
                let process = owner.map_or(Ok(None), |owner| OfProcess::look(owner.pid))?;
                let yields = process.as_ref().and_then(|process| process.yields.as_ref());
                Ok(Self {
                    receiving: yields.and_then(|all| Some(all.get(&flow.inode.into())?.yields)),
                    flow,
                    process,
                })
            })
            .collect()
    }

    /// Why it is not what its process is.
    fn differs(&self) -> bool {
        let process = self.process.as_ref().and_then(|process| process.in_effect);
        let sends = process.filter(|group| group.direction.sends());
        self.process.is_some() && self.flow.level() != sends.map(|group| group.level)
    }
}

impl Display for OfSocket {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Flow {
            local,
            peer,
            congestion_control,
            ..
        } = &self.flow;
        writeln!(f, "connection {local} - {peer}")?;
        match self.flow.level() {
            Some(level) => writeln!(f, "  what it sends    yields at level {level}: {congestion_control}")?,
            None => writeln!(f, "  what it sends    is in the foreground: {congestion_control}")?,
        }
        writeln!(f, "  its mark         {}", mark(&self.flow))?;
        let receives = match self.receiving {
            Some(true) if self.flow.is_coarse() => &format!("yields, but badly: {COARSE}"),
            Some(true) => "yields",
            Some(false) => "is in the foreground",
            None => "only root can see whether it yields",
        };
        writeln!(f, "  what it receives {receives}")?;
        if self.differs() {
            writeln!(
                f,
                "                   not as its process: made before that was so, by another process, or chosen by the program"
            )?;
        }
        match &self.process {
            Some(process) => write!(f, "{process}"),
            None => write!(f, "  its process      not told to you, or none any more"),
        }
    }
}

fn mark(flow: &Flow) -> String {
    match flow.dscp {
        _ if flow.is_marked() => "DSCP LE".to_owned(),
        0 => "none".to_owned(),
        other => format!("DSCP {other}, of its program"),
    }
}
