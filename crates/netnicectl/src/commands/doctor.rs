// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The findings, one a paragraph.

use std::process::ExitCode;

use anyhow::Result;
use netnice_loader::doctor::{findings, Verdict};
use netnice_loader::facts::Facts;

pub fn doctor(json: bool) -> Result<ExitCode> {
    let findings = findings(&Facts::gather("/".as_ref()));
    if json {
        super::print_json(&findings)?;
    } else {
        for f in &findings {
            let sign = match f.verdict {
                Verdict::Ok => "ok     ",
                Verdict::Note => "note   ",
                Verdict::Missing => "MISSING",
            };
            println!("{sign}  {:<13} {}", f.name, f.state);
            println!("{:24}{}", "", f.why);
            if !f.remedy.is_empty() {
                println!("{:24}What to do: {}", "", f.remedy);
            }
        }
    }
    let missing = findings.iter().any(|f| f.verdict == Verdict::Missing);
    Ok(if missing {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
