// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use netnice_loader::settings;

use crate::names::{algorithms, Names};

/// Change parameters of a loaded algorithm, at once and until down
///
/// 'set receiver algorithm=NAME' chooses what connections run that yield with what they receive, live
/// ones too; 'off' gives their windows back to the kernel.
#[derive(Debug, Args)]
#[command(after_help = algorithms())]
pub struct Set {
    /// The algorithm, 'netnice' say, or 'receiver'
    #[arg(value_parser = Names::settable(), hide_possible_values = true)]
    name: String,
    /// One or more of the parameters that 'show' lists
    #[arg(required = true, value_name = "KEY=VALUE", value_parser = change)]
    changes: Vec<(String, String)>,
}

impl Set {
    pub fn run(self) -> Result<ExitCode> {
        settings::set(&self.name, &self.changes)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn change(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes() {
        assert_eq!(change("a=1"), Ok(("a".into(), "1".into())));
        assert!(change("a").is_err());
    }
}
