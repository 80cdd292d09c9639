// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Manual pages and completions, from the very definitions that parse the command lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

/// Write manual pages or shell completions of all commands
#[derive(Debug, Args)]
pub struct Generate {
    kind: Kind,
    /// Where to; made if missing
    dir: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Man,
    Completions,
}

impl Generate {
    pub fn run(self, program: &Command) -> Result<ExitCode> {
        let dir = &self.dir;
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let all = [
            netnice::command(),
            program.clone(),
            netnice_path::command(),
            netnice_measure::command(),
            netnice_prefetch::command(),
        ];
        for command in all {
            match self.kind {
                Kind::Man => clap_mangen::generate_to(command, dir),
                Kind::Completions => completions(command, dir),
            }
            .with_context(|| format!("cannot write into {}", dir.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn completions(mut command: Command, dir: &Path) -> std::io::Result<()> {
    let name = command.get_name().to_owned();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, &name, dir)?;
    }
    Ok(())
}
