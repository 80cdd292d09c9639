// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! From the command line to what it asks for.

use netnice_loader::niceness;
use netnice_output::print;

use crate::{launch, level, list, moving, Asked, Cli, Error};

/// Returns only when there is no command, or it cannot be run.
pub fn run(cli: Cli) -> Result<(), Error> {
    if cli.list {
        return print(list::listed(cli.json)).map_err(Error::Print);
    }
    if !cli.pid.is_empty() {
        return moving::run(&cli);
    }
    let level = match cli.level {
        Some(Asked::Off) => return Err(Error::OffCommand),
        Some(Asked::Level(asked)) => level::checked(asked)?,
        None => 0,
    };
    let current = niceness::current()?;
    let Some((program, arguments)) = cli.command.split_first() else {
        return print(level::described(current)).map_err(Error::Print);
    };
    let direction = cli.direction().unwrap_or_default();
    let target = level::choose(current, level, cli.no_mark, direction);
    match launch::launch(program, arguments, (current, target), cli.quic.is_some())? {}
}
