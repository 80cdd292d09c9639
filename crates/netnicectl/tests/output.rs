// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What becomes of output without a reader, and of output that cannot be written.

use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Output, Stdio};

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
