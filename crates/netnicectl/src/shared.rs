// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the subcommands share: names of algorithms, steps of the loader, output for programs.
//! A wrong name is for the loader to refuse, whose words say what to do.

use std::ffi::OsStr;

use anyhow::Result;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use netnice_loader::catalogue::{Catalogue, Entry};
use netnice_loader::Step;
use netnice_output::{complain, print};
use rustix::process::{getpid, kill_process, Signal};
use serde::Serialize;

/// As wide as a manual page has room for: lines that begin with spaces are not filled.
const WIDTH: usize = 70;

/// The algorithms, for manual pages.
pub fn algorithms() -> String {
    let lists = Catalogue::read().wrapped(WIDTH);
    format!("Algorithms:\n  'netnice --list' prints these lists.\n\n{lists}")
}

#[derive(Clone)]
pub struct Names(Vec<PossibleValue>);

impl Names {
    /// What `up --with` loads.
    pub fn comparison() -> Self {
        Self(Catalogue::read().comparison.into_iter().map(value).collect())
    }

    /// What `set` takes.
    pub fn settable() -> Self {
        let all = Catalogue::read();
        let entries = [all.levels, all.receivers, all.comparison].concat();
        let receiver = PossibleValue::new("receiver").help("which of them decides how programs receive");
        Self([receiver].into_iter().chain(entries.into_iter().map(value)).collect())
    }
}

fn value(entry: Entry) -> PossibleValue {
    PossibleValue::new(entry.name).help(entry.about)
}

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().cloned()))
    }
}

/// For tests: the process stops itself (SIGSTOP) after the step of this name, to be killed there.
const STOP_AT: &str = "NETNICE_STOP_AT";

pub fn follow(verbose: bool) -> impl FnMut(Step) {
    let stop_at = std::env::var(STOP_AT).unwrap_or_default();
    move |step| {
        if verbose {
            complain(step);
        }
        if stop_at == step.name() {
            // The kernel lets every process stop itself.
            let _ = kill_process(getpid(), Signal::STOP);
        }
    }
}

pub fn print_json(value: &impl Serialize) -> Result<()> {
    Ok(print(serde_json::to_string_pretty(value)?)?)
}
