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
mod tests;
