// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Manual pages and completions of all programs, from the very definitions that parse their command lines. Not installed:
//! `make install` runs it.

mod pages;
mod synopsis;

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
    match kind {
        Kind::Man => manual(&dir),
        Kind::Completions => programs()
            .into_iter()
            .try_for_each(|command| completions(command, &dir)),
    }
    .with_context(|| format!("cannot write into {}", dir.display()))
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

fn manual(dir: &Path) -> std::io::Result<()> {
    let generated = programs().into_iter().flat_map(pages::of_program);
    for (name, text) in generated.chain(pages::written()) {
        fs::write(dir.join(name), text)?;
    }
    Ok(())
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
    use super::*;

    /// Lines of a help text: one screen.
    const LINES: usize = 40;

    #[test]
    fn the_command_lines_are_sound() {
        for program in programs() {
            program.debug_assert();
        }
    }

    /// Of a command and its subcommands.
    fn helps(command: &Command) -> Vec<String> {
        let own = command
            .clone()
            .term_width(netnice_help::COLUMNS)
            .render_help()
            .to_string();
        let below = command.get_subcommands().filter(|below| below.get_name() != "help");
        [own].into_iter().chain(below.flat_map(helps)).collect()
    }

    fn all_helps() -> Vec<(String, String)> {
        let of = |command: Command| {
            let mut command = netnice_help::brief(command);
            command.build();
            let name = command.get_name().to_owned();
            helps(&command).into_iter().map(move |help| (name.clone(), help))
        };
        programs().into_iter().flat_map(of).collect()
    }

    #[test]
    fn help_fits_one_screen() {
        let all = all_helps();
        assert!(all.len() > 20, "{}", all.len());
        for (_, help) in all {
            let (lines, widest) = (
                help.lines().count(),
                help.lines().map(|line| line.chars().count()).max(),
            );
            assert!(lines <= LINES, "{lines} lines:\n{help}");
            assert!(widest <= Some(netnice_help::COLUMNS), "{widest:?} columns:\n{help}");
        }
    }

    #[test]
    fn help_has_two_examples() {
        for (name, help) in all_helps() {
            let after = help.split_once("\nExamples:\n").map_or("", |(_, after)| after);
            let examples = after.lines().take_while(|line| line.starts_with("  "));
            assert_eq!(examples.filter(|line| line.contains(&name)).count(), 2, "{help}");
            assert!(help.contains("\nManual: man "), "{help}");
        }
    }

    #[test]
    fn help_names_no_sources_and_no_papers() {
        for (_, help) in all_helps() {
            for word in [".rs", ".bpf", ".h ", "OSDI", "RFC", "draft-", "Vegas", "paper"] {
                assert!(!help.contains(word), "{word}: {help}");
            }
        }
    }
}
