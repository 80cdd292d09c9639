// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is there: on this machine, loaded, in the background, and why.

use std::io::{stdout, IsTerminal};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{bail, Result};
use clap::Args;
use netnice_loader::base::Bases;
use netnice_loader::doctor::{findings, summary, unmendable, Finding, Verdict, Works};
use netnice_loader::facts::{privileged, Facts};
use netnice_loader::sockets::flows;
use netnice_loader::status::{status, Condition};
use netnice_output::print;

use crate::explanation::{OfCgroup, OfProcess, OfSocket};
use crate::metrics;
use crate::naming::named;
use crate::plot::Plot;
use crate::shared::print_json;
use crate::summary::Summary;
use crate::traffic::{Column, FlowFilter, Look, Traffic};

/// As LSB's init scripts and systemctl have it.
const NOT_UP: u8 = 3;

/// Show what is loaded, what is in the background, and counts
#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  netnicectl status
  sudo netnicectl status --metrics >/var/lib/node-exporter/netnice.prom",
    after_long_help = "\
Exit status:
  0  netnice is up
  1  failed
  2  wrong command line
  3  netnice is not up, or not completely"
)]
pub struct Status {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print metrics for Prometheus
    ///
    /// As text, which the node exporter's textfile collector reads.
    #[arg(long, conflicts_with = "json")]
    metrics: bool,
}

impl Status {
    pub fn run(self) -> Result<ExitCode> {
        let status = status()?;
        if self.json {
            print_json(&status)?;
        } else if self.metrics {
            print(metrics::text(&status)?)?;
        } else {
            print(Summary(&status))?;
        }
        let up = matches!(status.condition, Condition::Up | Condition::Hidden);
        Ok(if up { ExitCode::SUCCESS } else { NOT_UP.into() })
    }
}

/// Home, and all below is cleared.
const CLEAR: &str = "\x1b[H\x1b[J";

/// Show background connections: process, level, rates, queueing delay
///
/// Rates are those of the last interval. A connection is in the background if it runs on a congestion control of netnice,
/// or its program is. QUEUE is queueing delay. Of an upload: the current RTT minus the smallest one of some minutes. Of a
/// download: as netnice's receiver measures it, for root. '-': not known; after a busy phase so is an upload's, as
/// pacing can spoil the smallest RTT. Root sees the processes of all connections, users those of their own. Shows this
/// network namespace.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo netnicectl top --all --sort queue
  sudo netnicectl top --plot --filter rsync")]
pub struct Top {
    /// Also show connections in the foreground
    #[arg(short, long)]
    all: bool,
    /// Print once, after one interval, and end
    ///
    /// As if the output is no terminal.
    #[arg(long)]
    once: bool,
    /// Print JSON once, with sums by unit
    #[arg(long)]
    json: bool,
    /// Draw rate and queueing delay of the last minute
    ///
    /// Of all connections that would be shown: their rates together, in both directions, and the longest queueing delay.
    /// It begins when the command does.
    #[arg(long, conflicts_with = "sort")]
    plot: bool,
    /// Time between two screens: 0.1 to 3600
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    interval: Duration,
    /// Sort by this column, largest first
    #[arg(short, long, value_enum, default_value_t)]
    sort: Column,
    /// Only rows that contain this text
    ///
    /// In program, unit, congestion control or an address.
    #[arg(short, long, value_name = "TEXT")]
    filter: Option<String>,
}

impl Top {
    pub fn run(self) -> Result<ExitCode> {
        let once = self.once || self.json || !stdout().is_terminal();
        let mut bases = Bases::default();
        let mut before = Look::now(&mut bases)?;
        let mut plot = self.plot.then(|| Plot::new(self.interval));
        loop {
            sleep(self.interval);
            let now = Look::now(&mut bases)?;
            let traffic = Traffic::between(&before, &now);
            let all = traffic.connections.len();
            let traffic = self.chosen(traffic);
            let clear = if once { "" } else { CLEAR };
            if let Some(plot) = &mut plot {
                plot.add(&traffic.connections);
            }
            match (traffic.connections.is_empty(), &plot) {
                (_, Some(plot)) if self.json => print_json(plot)?,
                (_, None) if self.json => print_json(&traffic)?,
                (_, Some(plot)) if plot.has_any() => print(format_args!("{clear}{plot}"))?,
                (true, _) => print(format_args!("{clear}{}", self.nothing(all, Works::now(), privileged())))?,
                (false, _) => print(format_args!("{clear}{traffic}"))?,
            }
            if once {
                return Ok(ExitCode::SUCCESS);
            }
            before = now;
        }
    }

    /// Why none of `all` connections is shown, and what to do.
    fn nothing(&self, all: usize, works: Works, is_root: bool) -> String {
        let mut lines = vec![match &self.filter {
            _ if all == 0 => "There is no TCP connection in this network namespace.".to_owned(),
            Some(text) if self.all => {
                format!("No connection of this network namespace has '{text}' in it; all: {all}.")
            }
            Some(text) => {
                format!("No connection in the background has '{text}' in it; all of this network namespace: {all}.")
            }
            None => format!(
                "No connection of this network namespace is in the background; in the foreground: {all}. \
                 To see them: 'netnicectl top --all'."
            ),
        }];
        lines.push(match works {
            Works::ForNone => "netnice is not loaded. To load it: 'netnicectl up', as root.".to_owned(),
            _ => "To put a program in the background: 'netnice COMMAND'; one that runs: 'netnice -n 0 -p PID'."
                .to_owned(),
        });
        if !is_root {
            lines.push("Only root sees the processes of other users' connections.".to_owned());
        }
        lines.join("\n")
    }

    fn chosen(&self, mut traffic: Traffic) -> Traffic {
        let text = self.filter.as_deref().unwrap_or_default();
        traffic.keep(|row| (self.all || row.level.is_some()) && row.mentions(text));
        traffic.sort(self.sort);
        traffic
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("it is not between 0.1 and 3600 seconds".to_owned()),
    }
}

/// Show the level of a process, a unit or a connection, and why
///
/// A process has a level by itself: 'netnice' started it, 'netnice -p' moved it, a rule names it, or it inherits from
/// its parent. Its cgroups may have one too, by 'netnicectl attach' or a rule. The nicer one counts. A connection has
/// the level that its process had when it was made, unless it was moved since. Users see their own; root sees all, in
/// every network namespace.
///
/// Another process may send for it or for what it has started. That process is named, with its level. It may be an ssh
/// master, a daemon, a FUSE mount or the network of a rootless container.
#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  sudo netnicectl explain 4711
  sudo netnicectl explain backup.service",
    after_long_help = "\
More examples:
  netnicectl explain :22            connections with this port at either end
  netnicectl explain 192.0.2.1:40000-192.0.2.7:443
                                    one connection, its ends as ss(8) prints
                                    them, in either order"
)]
pub struct Explain {
    /// Process, unit, cgroup, or socket: :PORT, END-END
    #[arg(value_name = "PID|UNIT|CGROUP|SOCKET")]
    subject: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub fn run(self) -> Result<ExitCode> {
        let subject = self.subject.as_str();
        if let Ok(pid) = subject.parse() {
            let Some(found) = OfProcess::look(pid)?.map(OfProcess::with_senders) else {
                bail!("there is no process {pid}: it has ended, or never was.\nLook it up: 'pidof NAME' or 'ps'.");
            };
            return self.tell(&found, &found);
        }
        if let Ok(filter) = subject.parse::<FlowFilter>() {
            let all = OfSocket::all(&filter)?;
            if all.is_empty() {
                bail!("no TCP connection of this network namespace has the ends {subject}.\nLook it up: 'ss -tn'.");
            }
            let lines: Vec<String> = all.iter().map(OfSocket::to_string).collect();
            return self.tell(&all, lines.join("\n"));
        }
        let found = OfCgroup::look(&named(subject)?.cgroup)?;
        self.tell(&found, &found)
    }

    fn tell(&self, found: &impl serde::Serialize, text: impl std::fmt::Display) -> Result<ExitCode> {
        if self.json {
            print_json(found)?;
        } else {
            print(text)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Check what netnice needs from this machine; say what to do
#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  sudo netnicectl doctor
  netnicectl doctor --json",
    after_long_help = "\
Exit status:
  0  nothing is missing
  1  something is missing, or it failed
  2  wrong command line"
)]
pub struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub fn run(self) -> Result<ExitCode> {
        let works = Works::now();
        let mut findings = findings(&Facts::gather("/".as_ref()), works);
        // A kernel without tcp_diag does not tell.
        findings.extend(unmendable(&flows().unwrap_or_default()));
        if self.json {
            print_json(&findings)?;
        } else {
            print(format_args!("{}\n{}", paragraphs(&findings), summary(&findings, works)))?;
        }
        let missing = findings.iter().any(|f| f.verdict == Verdict::Missing);
        Ok(if missing { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn paragraphs(findings: &[Finding]) -> String {
    let width = findings
        .iter()
        .map(|finding| finding.name.len())
        .max()
        .unwrap_or_default();
    findings.iter().map(|finding| paragraph(finding, width)).collect()
}

fn paragraph(finding: &Finding, width: usize) -> String {
    let sign = match finding.verdict {
        Verdict::Ok => "ok",
        Verdict::Note => "note",
        Verdict::Missing => "MISSING",
    };
    let indent = " ".repeat(9 + width + 1);
    let mut text = format!("{sign:<9}{:<width$} {}\n", finding.name, finding.state);
    text += &format!("{indent}{}\n", finding.why);
    if !finding.remedy.is_empty() {
        text += &format!("{indent}What to do: {}\n", finding.remedy);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_screen_says_why() {
        let top = |all, filter: Option<&str>| Top {
            all,
            once: true,
            json: false,
            plot: false,
            interval: Duration::from_secs(1),
            sort: Column::default(),
            filter: filter.map(str::to_owned),
        };
        let said = top(false, None).nothing(3, Works::ForAll, true);
        assert!(
            said.starts_with("No connection") && said.contains("in the foreground: 3."),
            "{said}"
        );
        assert!(
            said.contains("'netnicectl top --all'") && said.contains("'netnice COMMAND'"),
            "{said}"
        );
        assert!(!said.contains("Only root"), "{said}");
        let said = top(false, Some("rsync")).nothing(3, Works::ForNone, false);
        assert!(said.contains("'rsync'") && said.contains("'netnicectl up'"), "{said}");
        assert!(said.contains("Only root"), "{said}");
        assert!(top(true, None)
            .nothing(0, Works::ForAll, true)
            .starts_with("There is no TCP connection"));
    }

    #[test]
    fn findings_in_a_column() {
        let facts = Facts::gather("/nonexistent".as_ref());
        let text = paragraphs(&findings(&facts, Works::ForNone));
        let (longest, column) = ("root of the cgroups", 29);
        for line in text.lines() {
            let begins = match line.starts_with(' ') {
                true => line.len() - line.trim_start().len(),
                false => column,
            };
            assert_eq!(begins, column, "{text}");
        }
        let line = text.lines().find(|line| line.contains(longest)).expect("it is checked");
        assert_eq!(line.find("Not to be seen"), Some(column), "{text}");
    }
}
