// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
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
