// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The subcommands: a file each, with its arguments and what it does, and a row each in the table below. They only ask
//! the loader and print.

/// Makes the modules and the enum `Verb` of rows `module::Arguments`. Help, manual pages and completions follow: the
/// first words of a command's help are the comment above its arguments.
macro_rules! commands {
    ($($(#[$attribute:meta])* $module:ident::$arguments:ident,)*) => {
        $(mod $module;)*

        #[derive(Debug, clap::Subcommand)]
        pub enum Verb {
            $($(#[$attribute])* $arguments($module::$arguments),)*
        }

        impl Verb {
            /// Does it.
            ///
            /// # Errors
            /// What the command says; its exit status otherwise.
            pub fn run(self) -> anyhow::Result<std::process::ExitCode> {
                match self {
                    $(Self::$arguments(arguments) => arguments.run(),)*
                }
            }
        }
    };
}

commands! {
    up::Up,
    down::Down,
    attach::Attach,
    detach::Detach,
    policy::Policy,
    status::Status,
    top::Top,
    explain::Explain,
    doctor::Doctor,
    show::Show,
    set::Set,
}

#[cfg(test)]
mod tests;
