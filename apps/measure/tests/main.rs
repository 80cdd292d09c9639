// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! netnice-measure between its own server and client: alone for hours, among strangers, and its report.
//!
//! A server and clients of it, as processes on the loopback interface.

mod hostile;
mod report;
mod unattended;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::mpsc::{channel, Receiver};
use std::thread;
use std::time::Duration;

use netnice_measure::results::{self, Record};

const PROGRAM: &str = env!("CARGO_BIN_EXE_netnice-measure");
/// Slow enough for a busy machine, and for little data.
const RATE: &str = "20mbit";
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// A folder with a token.
struct Bench {
    folder: tempfile::TempDir,
}

/// A process that ends with its test.
struct Running {
    child: Child,
    lines: Receiver<String>,
    port: u16,
}

impl Bench {
    fn new() -> Self {
        let bench = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        let made = bench.program().arg("token").arg(bench.token()).output().expect("run");
        assert!(made.status.success(), "{}", said(&made));
        bench
    }

    fn token(&self) -> PathBuf {
        self.folder.path().join("token")
    }

    fn results(&self) -> PathBuf {
        self.folder.path().join("results.jsonl")
    }

    fn records(&self) -> Vec<Record> {
        results::read(&self.results()).expect("results").0
    }

    fn program(&self) -> Command {
        Command::new(PROGRAM)
    }

    /// A server at `port`, or at any that is free.
    fn serve(&self, port: u16, words: &[&str]) -> Running {
        let mut command = self.program();
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--token"])
            .arg(self.token())
            .args(words);
        let mut running = Running::new(command);
        let line = running.line("listening at");
        let address = line
            .split_whitespace()
            .nth(3)
            .expect("an address")
            .trim_end_matches(',');
        running.port = address.parse::<std::net::SocketAddr>().expect("an address").port();
        running
    }

    /// A client of it that measures short transfers, one after the other.
    fn client(&self, port: u16, words: &[&str]) -> Command {
        let mut command = self.program();
        command
            .args(["run", "127.0.0.1", "--port", &port.to_string(), "--token"])
            .arg(self.token());
        command.arg("--output").arg(self.results());
        command.args([
            "--interval",
            "1ms",
            "--transfer",
            "200ms",
            "--actions",
            "reno/none,reno/reno2",
        ]);
        command.args(words);
        command
    }
}

impl Running {
    fn new(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("run");
        let (sender, lines) = channel();
        let stderr: ChildStderr = child.stderr.take().expect("piped");
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                sender.send(line).ok();
            }
        });
        Self { child, lines, port: 0 }
    }

    /// Waits for a line that has `part` in it.
    fn line(&self, part: &str) -> String {
        let mut before = Vec::new();
        loop {
            match self.lines.recv_timeout(ANSWER_TIME) {
                Ok(line) if line.contains(part) => return line,
                Ok(line) => before.push(line),
                Err(e) => panic!("no '{part}' ({e}) in {before:#?}"),
            }
        }
    }

    fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Sends a signal and waits for the end; gives the exit status.
    fn end(mut self, signal: i32) -> Option<i32> {
        // SAFETY: the child is ours and not yet waited for.
        unsafe { libc::kill(self.pid(), signal) };
        self.child.wait().expect("waited").code()
    }

    /// Resident memory, in KiB, and descriptors.
    fn uses(&self) -> (u64, usize) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("status");
        let memory = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .expect("VmRSS");
        let memory = memory
            .split_whitespace()
            .next()
            .expect("a number")
            .parse()
            .expect("a number");
        let descriptors = fs::read_dir(format!("/proc/{}/fd", self.pid()))
            .expect("descriptors")
            .count();
        (memory, descriptors)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What a program wrote to standard error.
fn said(output: &Output) -> String {
    let mut text = String::new();
    output.stderr.as_slice().read_to_string(&mut text).expect("text");
    text
}
