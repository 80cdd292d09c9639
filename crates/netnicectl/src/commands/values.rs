// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Parameters and their values, one algorithm a paragraph.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use netnice_loader::receiver;
use netnice_loader::settings::{self, Parameter, Row, RECEIVER};
use netnice_output::{complain, print};
use serde_json::{json, Map, Value};

use crate::shared::{algorithms, print_json, Names};

/// Show the parameters of the loaded algorithms, and the receiver
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo netnicectl show
  sudo netnicectl show netnice")]
pub struct Show {
    /// Only this algorithm; 'receiver': which algorithm receives
    #[arg(value_parser = Names::settable(), hide_possible_values = true)]
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub fn run(self) -> Result<ExitCode> {
        let (mut rows, mut chosen) = (settings::show()?, None);
        if let Some(name) = &self.name {
            rows = settings::only(name, rows)?;
        }
        if self.name.as_deref().is_none_or(|name| name == RECEIVER) {
            chosen = Some(receiver::status().map_or("unknown", |r| r.algorithm));
        }
        if self.json {
            print_json(&as_json(&rows, chosen))?;
        } else {
            print(as_text(rows, chosen))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// `chosen`: the receiver, if it is to be shown.
fn as_json(rows: &[Row], chosen: Option<&str>) -> Map<String, Value> {
    let named = |values: &[(Parameter, u32)]| -> Map<String, Value> {
        let pairs = values.iter();
        pairs.map(|(p, v)| (p.name.to_owned(), json!(v))).collect()
    };
    let mut all: Map<String, Value> = rows
        .iter()
        .map(|r| (r.algorithm.to_owned(), named(&r.values).into()))
        .collect();
    all.extend(chosen.map(|chosen| (RECEIVER.into(), json!({ "algorithm": chosen }))));
    all
}

fn as_text(rows: Vec<Row>, chosen: Option<&str>) -> String {
    let (receivers, senders): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.receiver);
    let names: Vec<_> = receiver::ALGORITHMS.iter().map(|a| a.name).collect();
    let choice = chosen.map_or_else(String::new, |chosen| {
        format!(
            "{RECEIVER}\n  {:<15}{chosen:>8}  one of off, {}\n\
             {:<27}what connections run that yield with what they receive\n",
            "algorithm",
            names.join(", "),
            ""
        )
    });
    let paragraphs = |rows: Vec<Row>| rows.iter().map(paragraph).collect::<String>();
    paragraphs(senders) + &choice + &paragraphs(receivers)
}

fn paragraph(row: &Row) -> String {
    let line = |(parameter, value): &(Parameter, u32)| {
        format!(
            "  {:<15}{value:>8}  {}\n{:<27}{}\n",
            parameter.name, parameter, "", parameter.why
        )
    };
    let lines: String = row.values.iter().map(line).collect();
    format!("{}\n{lines}", row.algorithm)
}

/// Change parameters of a loaded algorithm, at once and until 'down'
///
/// 'set receiver algorithm=NAME' chooses the receiver of all downloads that yield, open ones too. 'off' gives their
/// windows back to the kernel.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo netnicectl set netnice queue_limit=20
  sudo netnicectl set receiver algorithm=vulture",
after_long_help = algorithms())]
pub struct Set {
    /// An algorithm, or 'receiver'
    #[arg(value_parser = Names::settable(), hide_possible_values = true)]
    name: String,
    /// Parameters that 'show' lists, with new values
    #[arg(required = true, value_name = "KEY=VALUE", value_parser = change)]
    changes: Vec<(String, String)>,
}

impl Set {
    pub fn run(self) -> Result<ExitCode> {
        settings::set(&self.name, &self.changes)?;
        for (key, _) in &self.changes {
            if let Some(note) = settings::since_then(&self.name, key) {
                complain(note);
            }
        }
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

    fn row(algorithm: &'static str, receiver: bool) -> Row {
        Row {
            algorithm,
            values: Vec::new(),
            receiver,
        }
    }

    #[test]
    fn the_choice_of_the_receiver_is_between_senders_and_receivers() {
        let rows = || vec![row("netnice", false), row("tide", true)];
        let heads = |chosen| {
            let text = as_text(rows(), chosen);
            let heads = text.lines().filter(|line| !line.starts_with(' '));
            heads.map(str::to_owned).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(heads(Some("tide")), "netnice receiver tide");
        assert_eq!(heads(None), "netnice tide");
        assert_eq!(as_json(&rows(), Some("off"))[RECEIVER]["algorithm"], "off");
        assert!(!as_json(&rows(), None).contains_key(RECEIVER));
    }

    #[test]
    fn changes() {
        assert_eq!(change("a=1"), Ok(("a".into(), "1".into())));
        assert!(change("a").is_err());
    }
}
