// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The program: what becomes of output without a reader, and of output that cannot be written. A command waits while the
//! machine's netnice is reserved. Needs root.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Output, Stdio};

const COMMANDS: [&[&str]; 5] = [
    &["status"],
    &["status", "--json"],
    &["status", "--metrics"],
    &["doctor"],
    &["--help"],
];

fn netnicectl(words: &[&str], stdout: impl Into<Stdio>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_netnicectl"));
    let command = command.args(words).stdout(stdout).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_closed_pipe_is_no_error() {
    for words in COMMANDS {
        let read = || netnicectl(words, Stdio::piped()).status.code();
        let unread = || {
            let (reader, writer) = UnixStream::pair().expect("a pipe, nearly");
            drop(reader);
            netnicectl(words, OwnedFd::from(writer))
        };
        // Tests beside this one load and unload netnice, which is the status: compared where it stayed the same.
        let (before, done) = (0..20)
            .map(|_| (read(), unread()))
            .find(|(before, _)| *before == read())
            .expect("a second in which others leave netnice as it is");
        assert_eq!(String::from_utf8_lossy(&done.stderr), "", "{words:?}");
        assert_eq!(done.status.code(), before, "{words:?}");
    }
}

#[test]
fn a_full_disk_is_an_error_that_says_so() {
    for words in &COMMANDS[..4] {
        let full = OpenOptions::new().write(true).open("/dev/full");
        let done = netnicectl(words, full.expect("Linux has one"));
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{words:?}");
        assert!(said.contains("No space left on device"), "{words:?}: {said}");
        assert!(!said.contains("panicked"), "{words:?}: {said}");
    }
}

/// Runs the command line after a session has reserved netnice, where /run is the test's own. The shell's descriptor 9
/// holds the reservation while the command runs.
const RESERVED: &str = r#"
mount -t tmpfs none /run && mkdir -m 700 /run/netnice && exec 9>/run/netnice/reserved && flock 9 &&
echo "4711 tests/run" >&9 && exec "$@"
"#;

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn a_command_waits_and_names_the_holder() {
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", RESERVED, "sh"])
        .args([env!("CARGO_BIN_EXE_netnicectl"), "down"])
        .env_remove("NETNICE_RESERVATION")
        .stderr(Stdio::piped());
    // It is ended while it waits: nothing is taken down.
    let mut waiting = Running(command.spawn().expect("it starts"));
    let mut line = String::new();
    let pipe = waiting.0.stderr.take().expect("a pipe");
    BufReader::new(pipe).read_line(&mut line).expect("a line");
    assert_eq!(
        line,
        "netnicectl: waiting for PID 4711 (tests/run), which has reserved netnice on this machine\n"
    );
    assert!(waiting.0.try_wait().expect("a child").is_none());
}
