// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! up and down.

use std::process::ExitCode;

use anyhow::Result;
use netnice_loader::{down as unload, up as load, Outcome, UpOptions};

use crate::progress::follow;

pub fn up(options: &UpOptions, verbose: bool) -> Result<ExitCode> {
    match load(options, &mut follow(verbose))? {
        Outcome::Loaded => println!("up"),
        Outcome::AlreadyUp => println!("already up"),
        Outcome::ForApplications => println!("up for applications too"),
        Outcome::Repaired(ills) => {
            println!("up again; what was there was replaced: {}", ills.join("; "))
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub fn down(verbose: bool) -> Result<ExitCode> {
    let removed = unload(&mut follow(verbose))?;
    if !removed.anything {
        println!("already down");
        return Ok(ExitCode::SUCCESS);
    }
    match removed.moved {
        0 => println!("down"),
        1 => println!("down; 1 process is in the foreground again"),
        n => println!("down; {n} processes are in the foreground again"),
    }
    Ok(ExitCode::SUCCESS)
}
