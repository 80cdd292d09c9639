// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Manual pages and completions of all programs, from the very definitions that parse their command lines. Not installed:
//! `make install` runs it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Command, Parser, ValueEnum};
use clap_complete::Shell;

/// Write manual pages or shell completions of all commands
#[derive(Debug, Parser)]
#[command(name = "netnice-manual", version)]
struct Cli {
    kind: Kind,
    /// Where to; made if missing
    dir: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Man,
    Completions,
}

fn main() -> Result<()> {
    let Cli { kind, dir } = Cli::parse();
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    for command in programs() {
        match kind {
            Kind::Man => clap_mangen::generate_to(command, &dir),
            Kind::Completions => completions(command, &dir),
        }
        .with_context(|| format!("cannot write into {}", dir.display()))?;
    }
    Ok(())
}

fn programs() -> [Command; 6] {
    [
        netnice::command(),
        netnicectl::command(),
        netnice_path::command(),
        netnice_measure::command(),
        netnice_prefetch::command(),
        netnice_replay::command(),
    ]
}

fn completions(mut command: Command, dir: &Path) -> std::io::Result<()> {
    let name = command.get_name().to_owned();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, &name, dir)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_lines_are_sound() {
        for program in super::programs() {
            program.debug_assert();
        }
    }
}
