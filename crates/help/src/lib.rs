// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Command lines whose `-h` and `--help` print the same, on one screen. Longer texts of a definition (`long_about`,
//! `long_help`, `after_long_help`) are for manual pages alone: `netnice-manual` takes the definition as it is.

use clap::{Arg, Command, Error, Parser};

/// Columns of a help text.
pub const COLUMNS: usize = 80;

/// The definition that a program parses by, with its subcommands': without the texts of manual pages, with their names.
pub fn brief(command: Command) -> Command {
    let page = command.get_name().to_owned();
    named(command, &page)
}

fn named(command: Command, page: &str) -> Command {
    let after = command
        .get_after_help()
        .map(|text| format!("{text}\n\n"))
        .unwrap_or_default();
    command
        .long_about(None)
        .after_long_help(None)
        .after_help(format!("{after}Manual: man {page}"))
        .max_term_width(COLUMNS)
        .mut_args(brief_argument)
        .mut_subcommands(|subcommand| {
            let page = format!("{page}-{}", subcommand.get_name());
            named(subcommand, &page)
        })
}

fn brief_argument(argument: Arg) -> Arg {
    let values = argument.get_possible_values();
    let described = values.iter().any(|value| value.get_help().is_some());
    let hidden = argument.is_hide_possible_values_set() || described;
    argument.long_help(None).hide_possible_values(hidden)
}

/// The program's command line. Ends the program after `--help`, and if it is wrong.
pub fn parse<T: Parser>() -> T {
    try_parse().unwrap_or_else(|error| error.exit())
}

/// The same, where the exit status is not clap's.
/// The command line is wrong, or asks for help or the version.
pub fn try_parse<T: Parser>() -> Result<T, Error> {
    let mut command = brief(T::command());
    let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
    T::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

#[cfg(test)]
mod tests {
    use clap::{Args, CommandFactory, Subcommand};

    use super::*;

    /// Short.
    ///
    /// Longer: for the manual.
    #[derive(Debug, Parser)]
    #[command(name = "toy", after_help = "Brief end", after_long_help = "Long end")]
    struct Toy {
        #[command(subcommand)]
        verb: Verb,
    }

    #[derive(Debug, Subcommand)]
    enum Verb {
        Play(Play),
    }

    /// Short too
    ///
    /// Longer too.
    #[derive(Debug, Args)]
    struct Play {
        /// Some
        ///
        /// Longest.
        #[arg(long)]
        with: bool,
    }

    #[test]
    fn long_texts_are_not_printed() {
        let mut toy = brief(Toy::command());
        for words in [
            &["toy", "--help"][..],
            &["toy", "play", "--help"],
            &["toy", "help", "play"],
        ] {
            let said = toy.try_get_matches_from_mut(words).expect_err("help").to_string();
            assert!(!said.contains("Long") && said.contains("Short"), "{words:?}: {said}");
            let page = if words.contains(&"play") {
                "man toy-play\n"
            } else {
                "Brief end\n\nManual: man toy\n"
            };
            assert!(said.ends_with(page), "{words:?}: {said}");
        }
        assert!(Toy::command().render_long_help().to_string().contains("Longer"));
    }

    #[test]
    fn both_options_print_the_same() {
        let mut toy = brief(Toy::command());
        let mut said = |word| {
            toy.try_get_matches_from_mut(["toy", word])
                .expect_err("help")
                .to_string()
        };
        assert_eq!(said("-h"), said("--help"));
    }
}
