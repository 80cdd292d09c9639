// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The subcommands: arguments and what they do, those that are read together in one file, and a row for each file in the
//! table below. They only ask the loader and print.

/// Makes the modules and the enum `Verb` of rows `module::Arguments`, with a `|` between several. Help, manual pages and
/// completions follow: the first words of a command's help are the comment above its arguments.
macro_rules! commands {
    ($($module:ident::$($arguments:ident)|+,)*) => {
        $(mod $module;)*

        #[derive(Debug, clap::Subcommand)]
        pub enum Verb {
            $($($arguments($module::$arguments),)+)*
        }

        impl Verb {
            /// Does it.
            /// What the command says; its exit status otherwise.
            pub fn run(self) -> anyhow::Result<std::process::ExitCode> {
                match self {
                    $($(Self::$arguments(arguments) => arguments.run(),)+)*
                }
            }
        }
    };
}

commands! {
    loading::Up | Down,
    trying::Demo | Try,
    attaching::Attach | Detach,
    policy::Policy,
    status::Status | Top | Explain | Doctor,
    values::Show | Set,
}

#[cfg(test)]
mod tests {
    //! A new subcommand is one file and one row: `tests/toy.rs` and the row below are all there is of this one.

    use std::process::ExitCode;

    use clap::{CommandFactory, Parser};

    commands! {
        toy::Toy,
    }

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(subcommand)]
        verb: Verb,
    }

    #[test]
    fn one_file_and_one_row_make_a_subcommand() {
        let toy = Cli::try_parse_from(["netnicectl", "toy", "--answer", "42"]).expect("it is known");
        assert_eq!(toy.verb.run().expect("it runs"), ExitCode::from(42));
        let help = Cli::command().render_help().to_string();
        assert!(help.contains("toy   Ends with the status asked for"), "{help}");
    }
}
