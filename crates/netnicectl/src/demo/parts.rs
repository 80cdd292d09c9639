// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The processes at both ends of the line.
//!
//! `line` makes the far namespace, starts `server` in it and becomes netnice-path, which makes the near namespace and
//! runs `user` there. `user` fetches pages and starts `uploads`. Unnamed namespaces go with their last process.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{id, Child, Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::ValueEnum;
use netnice_output::print;
use nix::sched::{unshare, CloneFlags};

use super::conditions::{Background, Event, BUFFER_BDP, RATE_MBIT, RTT_MS, UPLOADS};
use super::pages::{fetch, received, serve, upload, Pages, Received};
use crate::processes::{beside, end_with, guard, own};

/// Where netnice-path says what the far end is called.
const FAR: &str = "NETNICE_PATH_PEER";
/// The first argument of a part's process.
const WORD: &str = "--part-of-demo";
/// Uploads need so long to fill the line, or to find their share.
const WARM_UP: Duration = Duration::from_millis(2500);
/// The rest of the uploads before leaves the line.
const DRAIN: Duration = Duration::from_millis(500);
/// Between two pages.
const PAUSE: Duration = Duration::from_millis(50);
/// The server is there before netnice-path, or nearly.
const STARTING: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Part {
    /// Also for other commands that need netnice for a while.
    Guard,
    Line,
    Server,
    User,
    Uploads,
}

impl Part {
    /// What a process of this part does. All but the guard end with their parent.
    pub fn run(self, parent: u32) -> Result<()> {
        match self {
            Self::Guard => return guard(),
            // netnice-path has seen to it.
            Self::User => return user(),
            Self::Line | Self::Server | Self::Uploads => end_with(parent)?,
        }
        match self {
            Self::Line => line(),
            Self::Server => serve(),
            _ => upload_all(),
        }
    }

    /// The part that this process is to do, and its parent, if it was started by `words`.
    pub fn asked_for() -> Option<(Self, u32)> {
        Self::of(std::env::args().skip(1))
    }

    fn of(mut words: impl Iterator<Item = String>) -> Option<(Self, u32)> {
        let is_part = words.next()? == WORD;
        let part = Self::from_str(&words.next().filter(|_| is_part)?, false).ok()?;
        Some((part, words.next()?.parse().ok()?))
    }

    /// The words that start it, as a child of this process. They are in no help: users start none.
    fn words(self) -> [String; 3] {
        let value = self.to_possible_value();
        let name = value.map_or(String::new(), |value| value.get_name().to_owned());
        [WORD.to_owned(), name, id().to_string()]
    }

    pub fn command(self) -> Result<Command> {
        let mut command = Command::new(own()?);
        command.args(self.words());
        Ok(command)
    }
}

fn line() -> Result<()> {
    unshare(CloneFlags::CLONE_NEWNET).context("cannot make a network namespace")?;
    let mut server = Part::Server.command()?;
    let server = server.stdin(Stdio::null()).stdout(Stdio::null());
    server.spawn().context("cannot start the server")?;
    let mut path = Command::new(beside("netnice-path")?);
    path.args(["--rate", &format!("{RATE_MBIT}mbit"), "--rtt", &format!("{RTT_MS}ms")])
        .args(["--queue", &format!("{BUFFER_BDP}bdp"), "--quiet", "--"])
        .arg(own()?)
        .args(Part::User.words());
    Err(path.exec()).context("cannot run netnice-path, which is in the package of netnicectl")
}

/// One address for all parts: the far end's.
fn far() -> Result<String> {
    std::env::var(FAR).with_context(|| format!("{FAR} is not set: this part is started by netnice-path"))
}

fn user() -> Result<()> {
    // What one run has learned of the path is not for the next.
    let _ = fs::write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1");
    let far = far()?;
    let begun = Instant::now();
    while let Err(why) = received(&far) {
        if begun.elapsed() > STARTING {
            return Err(why).context("the server of the demonstration does not answer");
        }
        sleep(PAUSE);
    }
    for background in Background::ALL {
        tell(&Event::Phase(background))?;
        phase(background, &far)?;
    }
    Ok(())
}

fn phase(background: Background, far: &str) -> Result<()> {
    let uploads = start(background)?;
    if uploads.is_some() {
        sleep(WARM_UP);
    }
    let before = received(far)?;
    let begun = Instant::now();
    for _ in Pages::during(background.lasts()) {
        match fetch(far) {
            Ok(took) => tell(&Event::Page {
                at: milliseconds(begun.elapsed()) / 1e3,
                ms: milliseconds(took),
            })?,
            Err(_) => tell(&Event::Lost)?,
        }
        sleep(PAUSE);
    }
    if let Some(mut uploads) = uploads {
        tell(&Event::Uploads {
            bps: Received::rate(&before, &received(far)?),
        })?;
        uploads.kill().context("cannot end the uploads")?;
        uploads.wait()?;
        sleep(DRAIN);
    }
    Ok(())
}

/// One process with all uploads; as a user would start it.
fn start(background: Background) -> Result<Option<Child>> {
    let mut command = match background {
        Background::Nothing => return Ok(None),
        Background::Plain => Part::Uploads.command()?,
        Background::Netnice => {
            let mut command = Command::new(beside("netnice")?);
            command.args(["--strict", "--"]).arg(own()?).args(Part::Uploads.words());
            command
        }
    };
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().map(Some).context("cannot start the uploads")
}

fn upload_all() -> Result<()> {
    let far = far()?;
    let one = |_| {
        let far = far.clone();
        thread::spawn(move || upload(&far))
    };
    for thread in (0..UPLOADS).map(one).collect::<Vec<_>>() {
        thread.join().unwrap_or(Ok(())).context("an upload has ended")?;
    }
    Ok(())
}

/// To the microsecond.
fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

fn tell(event: &Event) -> Result<()> {
    Ok(print(serde_json::to_string(event)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_started_by_its_words_alone() {
        for part in Part::value_variants() {
            let found = Part::of(part.words().into_iter()).expect("its words");
            assert_eq!((format!("{:?}", found.0), found.1), (format!("{part:?}"), id()));
        }
        for words in [
            &["demo"][..],
            &[WORD],
            &[WORD, "user"],
            &[WORD, "none", "1"],
            &["x", "user", "1"],
        ] {
            assert!(
                Part::of(words.iter().map(|word| (*word).to_owned())).is_none(),
                "{words:?}"
            );
        }
    }
}
