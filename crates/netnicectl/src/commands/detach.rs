// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use netnice_loader::attachments::detach;
use netnice_loader::cgroup::Hierarchy;
use netnice_output::print;

use super::attach::tell;

/// Take back what 'attach' did to a unit, a container or another cgroup
///
/// The connections of what runs in it are as nice then as their processes are by themselves.
#[derive(Debug, Args)]
pub struct Detach {
    /// A unit's name, or the path of a cgroup
    #[arg(value_name = "UNIT|CGROUP")]
    name: String,
}

impl Detach {
    pub fn run(self) -> Result<ExitCode> {
        let cgroup = Hierarchy::find()?.named(&self.name)?;
        if let Some(reached) = detach(&cgroup)? {
            return tell("detached", &reached);
        }
        print("it was not attached")?;
        Ok(ExitCode::SUCCESS)
    }
}
