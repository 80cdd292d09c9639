// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A reader that leaves early is no error, whatever was asked.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;

#[test]
fn a_closed_pipe_is_no_error() {
    for words in [&["-l"][..], &["-l", "--json"], &[], &["--help"]] {
        let (reader, writer) = UnixStream::pair().expect("a pipe, nearly");
        drop(reader);
        let mut netnice = Command::new(env!("CARGO_BIN_EXE_netnice"));
        let netnice = netnice.args(words).stdout(OwnedFd::from(writer));
        let done = netnice.output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&done.stderr), "", "{words:?}");
        assert!(done.status.success(), "{words:?}");
    }
}
