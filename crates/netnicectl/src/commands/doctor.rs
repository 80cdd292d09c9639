// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The findings, one a paragraph.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use netnice_loader::doctor::{findings, Finding, Verdict};
use netnice_loader::facts::Facts;
use netnice_output::print;

use crate::json::print_json;

/// Check all that netnice needs from this machine; for each: why, and what to do
#[derive(Debug, Args)]
pub struct Doctor {
    /// For programs
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub fn run(self) -> Result<ExitCode> {
        let findings = findings(&Facts::gather("/".as_ref()));
        if self.json {
            print_json(&findings)?;
        } else {
            print(findings.iter().map(paragraph).collect::<String>())?;
        }
        let missing = findings.iter().any(|f| f.verdict == Verdict::Missing);
        Ok(if missing {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

fn paragraph(finding: &Finding) -> String {
    let sign = match finding.verdict {
        Verdict::Ok => "ok     ",
        Verdict::Note => "note   ",
        Verdict::Missing => "MISSING",
    };
    let indent = " ".repeat(24);
    let mut text = format!("{sign}  {:<13} {}\n", finding.name, finding.state);
    text += &format!("{indent}{}\n", finding.why);
    if !finding.remedy.is_empty() {
        text += &format!("{indent}What to do: {}\n", finding.remedy);
    }
    text
}
