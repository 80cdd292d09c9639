// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Arguments that name an algorithm: help, manual pages and completions tell which there are. A wrong one is for the
//! loader to refuse, whose words say what to do.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use netnice_loader::catalogue::{Catalogue, Entry};

/// As wide as a manual page has room for: lines that begin with spaces are not filled.
const WIDTH: usize = 70;

/// What there is to name, for the help.
pub fn algorithms() -> String {
    Catalogue::read().wrapped(WIDTH)
}

#[derive(Clone)]
pub struct Names(Vec<PossibleValue>);

impl Names {
    /// What `up --with` loads.
    pub fn comparison() -> Self {
        Self(
            Catalogue::read()
                .comparison
                .into_iter()
                .map(value)
                .collect(),
        )
    }

    /// What `set` takes.
    pub fn settable() -> Self {
        let all = Catalogue::read();
        let entries = [all.levels, all.receivers, all.comparison].concat();
        let receiver =
            PossibleValue::new("receiver").help("which of them decides how programs receive");
        Self(
            [receiver]
                .into_iter()
                .chain(entries.into_iter().map(value))
                .collect(),
        )
    }
}

fn value(entry: Entry) -> PossibleValue {
    PossibleValue::new(entry.name).help(entry.about)
}

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().cloned()))
    }
}
