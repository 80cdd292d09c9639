// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What came out of a trial, for people and programs.

use std::fmt::{self, Display, Formatter};

use serde::{Serialize, Serializer};

use super::probe::Target;
use crate::bars::{mean, p95, Bar, Bars};

/// Below that a plain download is no burden.
const HARMLESS: f64 = 1.2;
/// A file that ends as often is not long enough.
const SHORT: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Idle,
    Plain,
    Netnice,
}

impl Kind {
    pub fn title(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Plain => "plain download",
            Self::Netnice => "netnice download",
        }
    }
}

/// Latency to one target in one phase.
#[derive(Debug, Serialize)]
pub struct Latency {
    #[serde(serialize_with = "as_text")]
    to: Target,
    mean_ms: Option<f64>,
    p95_ms: Option<f64>,
    probes: usize,
    lost: usize,
}

fn as_text<S: Serializer>(target: &Target, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(target)
}

#[derive(Debug, Serialize)]
pub struct Phase {
    pub download: Kind,
    pub bps: Option<f64>,
    pub latency: Vec<Latency>,
    /// How often the download came to its end, and was begun again.
    pub restarts: usize,
}

#[derive(Debug, Serialize)]
pub struct Trial {
    pub url: String,
    pub phases: Vec<Phase>,
}

/// Of one target's probes.
pub fn latency(to: &Target, probes: &[Option<f64>]) -> Latency {
    let times = || probes.iter().copied().flatten();
    Latency {
        to: to.clone(),
        mean_ms: mean(times()),
        p95_ms: p95(times()),
        probes: probes.len(),
        lost: probes.len() - times().count(),
    }
}

impl Trial {
    /// How much longer the server takes beside the plain download.
    fn burden(&self) -> Option<f64> {
        let first = |kind| {
            let phase = self.phases.iter().find(|phase| phase.download == kind)?;
            phase.latency.first()?.mean_ms
        };
        Some(first(Kind::Plain)? / first(Kind::Idle)?)
    }

    fn remarks(&self) -> Vec<&'static str> {
        let mut said = Vec::new();
        if self.burden().is_some_and(|times| times < HARMLESS) {
            said.push(
                "The plain download delayed next to nothing. The server may be slower than this line, or the\n\
                 router keeps its queue short. Another URL may show more.\n",
            );
        }
        if self.phases.iter().any(|phase| phase.restarts >= SHORT) {
            said.push("The file is short: it was downloaded several times. A longer one shows more.\n");
        }
        said
    }
}

impl Display for Trial {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "Latency of this line, and what the download gets:")?;
        let targets = self.phases.first().map_or(0, |phase| phase.latency.len());
        for number in 0..targets {
            let of = |phase: &'_ Phase| Bar {
                title: phase.download.title(),
                ms: phase.latency[number].mean_ms,
                background_bps: phase.bps,
            };
            let bars: Vec<Bar> = self.phases.iter().map(of).collect();
            writeln!(f, "\n{}:\n{}", self.phases[0].latency[number].to, Bars(&bars))?;
            let lost: usize = self.phases.iter().map(|phase| phase.latency[number].lost).sum();
            if lost > 0 {
                writeln!(f, "without an answer, and left out: {lost}\n")?;
            }
        }
        self.remarks().iter().try_for_each(|remark| writeln!(f, "{remark}"))?;
        writeln!(f, "To run a program in the background: netnice COMMAND")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(plain_ms: f64) -> Trial {
        let server = Target::Server {
            name: "example.org".to_owned(),
            address: ([192, 0, 2, 1], 443).into(),
        };
        let phase = |download, ms: f64, bps| Phase {
            download,
            bps,
            latency: vec![latency(&server, &[Some(ms), None, Some(ms)])],
            restarts: 0,
        };
        Trial {
            url: "https://example.org/".to_owned(),
            phases: vec![
                phase(Kind::Idle, 20.0, None),
                phase(Kind::Plain, plain_ms, Some(48e6)),
                phase(Kind::Netnice, 22.0, Some(46e6)),
            ],
        }
    }

    #[test]
    fn bars_of_each_target() {
        let text = trial(90.0).to_string();
        assert!(text.contains("\nconnecting to example.org, port 443:\nidle "), "{text}");
        assert!(text.contains("× 4.5") && text.contains("46.0 Mbit/s"), "{text}");
        assert!(
            text.contains("left out: 3\n") && !text.contains("delayed next to nothing"),
            "{text}"
        );
        assert!(text.ends_with("netnice COMMAND\n"), "{text}");
    }

    #[test]
    fn a_line_without_a_queue_is_said() {
        assert!(trial(21.0).to_string().contains("delayed next to nothing"));
    }

    #[test]
    fn targets_are_words_in_json() {
        let json = serde_json::to_value(trial(90.0)).expect("JSON");
        assert_eq!(
            json["phases"][1]["latency"][0]["to"],
            "connecting to example.org, port 443"
        );
        assert_eq!(json["phases"][1]["latency"][0]["lost"], 1);
    }
}
