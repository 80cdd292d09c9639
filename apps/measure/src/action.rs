// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is transferred, and what runs beside it: `reno/none`, `cubic/netnice8`, `cubic/tide8`.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The paper's six (section 5.1), with the background of this project in place of Nice.
pub const SIX: &str = "reno/none,netnice/none,reno/reno,reno/netnice,reno/reno8,reno/netnice8";
/// The receivers of netnice: the downloading end asks for them, the sender need know nothing.
const RECEIVERS: [&str; 3] = ["tide", "vulture", "rledbat"];
/// Names that end with a digit; behind any other name a number is how many.
const NUMBERED: [&str; 6] = ["netnice1", "netnice2", "nicer0", "nicer1", "nicer2", "bbr3"];
/// More connections than any browser or downloader opens.
const MOST: u32 = 64;
/// TCP_CA_NAME_MAX of the kernel, less the closing zero.
const LONGEST_NAME: usize = 15;

/// The end that sends, seen from the machine that runs `netnice-measure run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// This machine sends
    Up,
    /// The server sends
    Down,
}

impl Display for Direction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Up => "up",
            Self::Down => "down",
        })
    }
}

/// What decides how fast a connection goes: a congestion control of the sender, or one of netnice's receivers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Flow(String);

impl Flow {
    /// Does the receiving end decide?
    #[must_use]
    pub fn is_receiver(&self) -> bool {
        RECEIVERS.contains(&self.0.as_str())
    }

    /// The name, as `netnicectl` and `sysctl net.ipv4.tcp_available_congestion_control` have it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// One of the things that a measurement may do.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Action {
    /// The transfer that is timed.
    pub primary: Flow,
    /// What runs beside it, and how many of it; none if 0.
    pub beside: Option<(Flow, u32)>,
}

impl Action {
    /// A receiver can only yield with what it receives; anything else goes in the direction that the user chose.
    #[must_use]
    pub fn direction(&self, chosen: Direction) -> Direction {
        let beside = self.beside.as_ref().map(|(flow, _)| flow);
        let receives = |flow: &Flow| flow.is_receiver();
        if receives(&self.primary) || beside.is_some_and(receives) {
            Direction::Down
        } else {
            chosen
        }
    }

    /// How many connections run beside the primary.
    #[must_use]
    pub fn others(&self) -> u32 {
        self.beside.as_ref().map_or(0, |(_, count)| *count)
    }
}

/// Why an action could not be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ActionError {
    #[error("'{0}' has no '/'; write PRIMARY/none, PRIMARY/OTHER or PRIMARY/OTHER8, for example reno/netnice8")]
    NoSlash(String),
    #[error("'{0}' is no name of a congestion control or receiver: small letters, digits, - and _, at most 15")]
    BadName(String),
    #[error("'{0}': 1 to {MOST} connections can run beside the primary")]
    BadCount(String),
}

impl FromStr for Action {
    type Err = ActionError;

    fn from_str(text: &str) -> Result<Self, ActionError> {
        let lower = text.trim().to_ascii_lowercase();
        let (primary, beside) = lower.split_once('/').ok_or_else(|| ActionError::NoSlash(text.into()))?;
        let beside = match beside {
            "none" | "null" => None,
            several => {
                let (name, count) = counted(several);
                let count = match count {
                    "" => 1,
                    digits => digits.parse().unwrap_or(0),
                };
                if !(1..=MOST).contains(&count) {
                    return Err(ActionError::BadCount(text.into()));
                }
                Some((flow(name)?, count))
            }
        };
        Ok(Self {
            primary: flow(primary)?,
            beside,
        })
    }
}

/// Splits `netnice8`, `netnice1x8` or `netnice1` into the name and how many.
fn counted(text: &str) -> (&str, &str) {
    if let Some((name, count)) = text.rsplit_once('x') {
        if !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit()) {
            return (name, count);
        }
    }
    if let Some(name) = NUMBERED.iter().find(|name| text.starts_with(*name)) {
        return text.split_at(name.len());
    }
    text.split_at(text.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

fn flow(name: &str) -> Result<Flow, ActionError> {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(fits) {
        return Err(ActionError::BadName(name.into()));
    }
    Ok(Flow(name.into()))
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let primary = &self.primary.0;
        match &self.beside {
            None => write!(f, "{primary}/none"),
            Some((Flow(name), 1)) => write!(f, "{primary}/{name}"),
            Some((Flow(name), count)) if name.ends_with(|c: char| c.is_ascii_digit()) => {
                write!(f, "{primary}/{name}x{count}")
            }
            Some((Flow(name), count)) => write!(f, "{primary}/{name}{count}"),
        }
    }
}

impl From<Action> for String {
    fn from(action: Action) -> Self {
        action.to_string()
    }
}

impl TryFrom<String> for Action {
    type Error = ActionError;

    fn try_from(text: String) -> Result<Self, ActionError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Action {
        text.parse().expect("an action")
    }

    #[test]
    fn the_papers_six_are_as_they_are_written() {
        for text in SIX.split(',') {
            assert_eq!(read(text).to_string(), text);
        }
        assert_eq!(read("Reno/NULL"), read("reno/none"));
    }

    #[test]
    fn a_number_is_a_count_unless_it_is_part_of_a_name() {
        for (text, name, count) in [
            ("cubic/netnice8", "netnice", 8),
            ("cubic/netnice1", "netnice1", 1),
            ("cubic/netnice18", "netnice1", 8),
            ("cubic/netnice1x8", "netnice1", 8),
            ("cubic/tide16", "tide", 16),
        ] {
            let action = read(text);
            let (flow, read_count) = action.beside.clone().expect("something beside");
            assert_eq!((flow.name(), read_count), (name, count), "{text}");
            assert_eq!(read(&action.to_string()), action);
        }
    }

    #[test]
    fn a_receiver_makes_it_a_download() {
        assert_eq!(read("cubic/tide8").direction(Direction::Up), Direction::Down);
        assert_eq!(read("cubic/lp").direction(Direction::Up), Direction::Up);
    }

    #[test]
    fn wrong_ones_are_refused() {
        for text in [
            "reno",
            "reno/",
            "/reno",
            "reno/reno0",
            "reno/reno65",
            "re no/none",
            "reno/none/none",
        ] {
            assert!(text.parse::<Action>().is_err(), "{text}");
        }
    }
}
