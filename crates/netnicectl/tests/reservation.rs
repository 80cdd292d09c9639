// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A command that comes while the machine's netnice is reserved waits, and names the holder. Needs root.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

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
