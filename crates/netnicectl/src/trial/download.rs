// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is downloaded, by curl: again and again if it is short. What comes is counted, and discarded.

use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use anyhow::{bail, Context, Result};

use crate::processes::beside;

/// Seconds after which curl ends by itself, if this program was killed while nothing comes.
const LONGEST: &str = "3700";

/// An address of the web, as far as latency to its server needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    pub text: String,
    pub host: String,
    pub port: u16,
}

impl FromStr for Url {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lower = text.to_ascii_lowercase();
        let (usual, rest) = match (lower.strip_prefix("http://"), lower.strip_prefix("https://")) {
            (Some(rest), _) => (80, rest),
            (_, Some(rest)) => (443, rest),
            _ => return Err("it does not begin with http:// or https://"),
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (_, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (host, port) = match host.strip_prefix('[').and_then(|six| six.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':')),
            None => host
                .split_once(':')
                .map_or((host, None), |(host, port)| (host, Some(port))),
        };
        if host.is_empty() {
            return Err("it names no host");
        }
        Ok(Self {
            text: text.to_owned(),
            host: host.to_owned(),
            port: match port {
                None | Some("") => usual,
                Some(port) => port.parse().map_err(|_| "its port is not a number up to 65535")?,
            },
        })
    }
}

/// A download that goes on until this value goes.
pub struct Download {
    url: Url,
    nice: bool,
    curl: Child,
    complaints: Option<JoinHandle<String>>,
    bytes: Arc<AtomicU64>,
    /// How often it came to its end, and was begun again.
    pub ended: usize,
}

impl Download {
    pub fn start(url: &Url, nice: bool) -> Result<Self> {
        let bytes = Arc::default();
        let (curl, complaints) = curl(url, nice, &bytes)?;
        Ok(Self {
            url: url.clone(),
            nice,
            curl,
            complaints: Some(complaints),
            bytes,
            ended: 0,
        })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Begins it again if it has ended. It has failed.
    pub fn go_on(&mut self) -> Result<()> {
        let Some(status) = self.curl.try_wait()? else {
            return Ok(());
        };
        if !status.success() {
            let said = self
                .complaints
                .take()
                .and_then(|thread| thread.join().ok())
                .unwrap_or_default();
            bail!("the download has failed: {}", said.trim_end());
        }
        self.ended += 1;
        let (curl, complaints) = curl(&self.url, self.nice, &self.bytes)?;
        (self.curl, self.complaints) = (curl, Some(complaints));
        Ok(())
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        let _ = self.curl.kill();
        let _ = self.curl.wait();
    }
}

/// It is installed.
pub fn require_curl() -> Result<()> {
    let mut command = Command::new("curl");
    let command = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Err(why) if why.kind() == ErrorKind::NotFound => {
            bail!("curl is not installed, and it does the downloads.\nInstall it, for example by 'apt install curl'.")
        }
        started => started.map(drop).context("cannot run curl"),
    }
}

/// Starts it; what it says on standard error comes from the thread, at its end.
fn curl(url: &Url, nice: bool, bytes: &Arc<AtomicU64>) -> Result<(Child, JoinHandle<String>)> {
    let words = words(&url.text);
    let mut command = if nice {
        let mut command = Command::new(beside("netnice")?);
        command.args(["--strict", "--", "curl"]);
        command
    } else {
        Command::new("curl")
    };
    let command = command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot start the download")?;
    let pipes = child.stdout.take().zip(child.stderr.take());
    let (mut data, mut complaints) = pipes.context("a process without pipes")?;
    let bytes = Arc::clone(bytes);
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read @ 1..) = data.read(&mut buffer) {
            bytes.fetch_add(read as u64, Ordering::Relaxed);
        }
    });
    let complaints = thread::spawn(move || {
        let mut said = String::new();
        complaints.read_to_string(&mut said).map(|_| said).unwrap_or_default()
    });
    Ok((child, complaints))
}

fn words(url: &str) -> Vec<OsString> {
    let words = [
        "--silent",
        "--show-error",
        "--fail",
        "--location",
        "--globoff",
        "--max-time",
        LONGEST,
    ];
    let all = words
        .into_iter()
        .chain(["--proto-redir", "=http,https", "--output", "-", "--", url]);
    all.map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports() {
        for (text, host, port) in [
            ("http://example.org/a", "example.org", 80),
            ("HTTPS://Example.org", "example.org", 443),
            ("https://example.org:8443?x=/:1", "example.org", 8443),
            ("http://user:word@192.0.2.1:81/", "192.0.2.1", 81),
            ("http://[2001:db8::1]/", "2001:db8::1", 80),
            ("http://[2001:db8::1]:8080/", "2001:db8::1", 8080),
            ("http://example.org:/", "example.org", 80),
        ] {
            let url: Url = text.parse().expect(text);
            assert_eq!((url.host.as_str(), url.port, url.text.as_str()), (host, port, text));
        }
    }

    #[test]
    fn what_is_no_address_of_the_web() {
        for text in [
            "",
            "ftp://example.org/",
            "example.org",
            "http://",
            "http:///a",
            "http://a:x/",
            "--help",
        ] {
            assert!(text.parse::<Url>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_is_never_an_option() {
        let words = words("http://example.org/");
        assert_eq!(words[words.len() - 2], "--");
    }
}
