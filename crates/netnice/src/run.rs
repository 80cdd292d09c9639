// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! From the command line to what it asks for.

use std::process::ExitCode;

use netnice_loader::catalogue::Catalogue;
use netnice_loader::group::Direction;
use netnice_loader::niceness;
use netnice_output::print;
use serde_json::json;

use crate::launch::Wanted;
use crate::{launch, level, moving, report, Cli, Error, LevelOption};

/// Returns when there is no command, it cannot be run, or it was watched to its end.
pub fn run(cli: Cli) -> Result<ExitCode, Error> {
    if cli.list {
        return print(listed(cli.json)).map_err(Error::Print).map(succeeded);
    }
    if !cli.pid.is_empty() {
        return moving::run(&cli).map(succeeded);
    }
    let level = match cli.level {
        Some(LevelOption::Off) => return Err(Error::OffCommand),
        Some(LevelOption::Level(number)) => level::checked(number)?,
        None => 0,
    };
    let Some((program, arguments)) = cli.command.split_first() else {
        let shown = print(level::described(niceness::current()?));
        return shown.map_err(Error::Print).map(succeeded);
    };
    let wanted = Wanted {
        level,
        no_mark: cli.no_mark,
        direction: cli.direction().unwrap_or_default(),
        without_quic: cli.quic.is_some(),
        until: cli.until.or(cli.lasting),
        heirs: cli.heirs(),
        at_least: cli.at_least,
    };
    if cli.report {
        let receives = wanted.direction == Direction::Receive;
        let ended = report::watched(&program.to_string_lossy(), level, receives, cli.json)?;
        if let Some(status) = ended {
            return Ok(status);
        }
    }
    launch::prepare(program, &wanted, cli.strict)?;
    match launch::exec(program, arguments)? {}
}

fn succeeded((): ()) -> ExitCode {
    ExitCode::SUCCESS
}

pub(crate) fn listed(as_json: bool) -> String {
    let catalogue = Catalogue::read();
    if as_json {
        return format!("{:#}\n", json!(catalogue));
    }
    catalogue.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_an_algorithm() {
        let text = listed(false);
        let all: serde_json::Value = serde_json::from_str(&listed(true)).expect("JSON");
        for part in ["levels", "receivers", "comparison"] {
            let entries = all[part].as_array().expect("a list");
            assert!(!entries.is_empty());
            for entry in entries {
                let (name, about) = (entry["name"].as_str(), entry["about"].as_str());
                let (name, about) = (name.expect("named"), about.expect("told"));
                let of = |l: &&str| l.split_whitespace().take(2).any(|word| word == name);
                let found = text.lines().filter(of).filter(|l| l.ends_with(about));
                assert_eq!(found.count(), 1, "{name}");
            }
        }
        assert_eq!(all["levels"][2]["level"], 2);
    }
}
