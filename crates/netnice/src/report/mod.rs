// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! --report: how COMMAND's connections yielded, in a line once it has ended.

mod child;
mod line;
mod tally;

use std::io::Write;
use std::process::ExitCode;

use netnice_output::complain;

use child::{Child, End, Event};
use tally::Tally;

use crate::Error;

/// In the child: `None`, and COMMAND is to be executed. In its parent: how COMMAND has ended, once it has.
pub(crate) fn watched(command: &str, level: u32, receives: bool, as_json: bool) -> Result<Option<ExitCode>, Error> {
    let cannot = |why| Error::CannotRun(command.to_owned(), why);
    let Some(mut child) = Child::fork().map_err(cannot)? else {
        return Ok(None);
    };
    let mut tally = Tally::new(child.pid(), level, receives);
    let end = loop {
        match child.wait(tally.pause()).map_err(cannot)? {
            Event::Nothing => tally.look(),
            Event::Ended(end) => break end,
        }
    };
    let report = tally.report(command);
    let did_not_run = matches!(end, End::Exited(126 | 127)) && report.connections == 0;
    match as_json {
        // A failure to print cannot be printed either.
        true => drop(writeln!(std::io::stderr(), "{}", serde_json::json!(report))),
        false if did_not_run => (),
        false => complain(&report),
    }
    Ok(Some(end.repeat()))
}
