// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What netnice's programs print.
//!
//! `println!` panics when the reader has gone (`netnicectl status | head -1`) and when the disk is full. The first is
//! no error: the reader has seen enough, and the program's exit status is what it would have been. The second is one.
//! So every program prints by [`print`] and [`complain`]; clippy refuses the macros.

use std::env;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Prints to standard output, and ends the last line.
/// It cannot be written, for another reason than that the reader is gone.
pub fn print(text: impl Display) -> io::Result<()> {
    write(&mut io::stdout().lock(), &text.to_string())
}

/// Says on standard error, after the program's name, what it has to say. A missing reader must not end the program.
pub fn complain(what: impl Display) {
    let called = env::args_os().next().unwrap_or_default();
    let program = Path::new(&called).file_name().unwrap_or_default();
    let text = format!("{}: {what}", program.to_string_lossy());
    let _ = write(&mut io::stderr().lock(), &text);
}

/// In one piece, so that a reader never sees half of what there is by the time it is gone.
fn write(to: &mut impl Write, text: &str) -> io::Result<()> {
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let text = [text, end].concat();
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Err(why) if why.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_last_line_ends_once() {
        let printed = |text| {
            let mut to = Vec::new();
            write(&mut to, text).expect("memory is no pipe");
            String::from_utf8(to).expect("text")
        };
        assert_eq!(printed("a"), "a\n");
        assert_eq!(printed("a\nb\n"), "a\nb\n");
        assert_eq!(printed(""), "");
    }

    #[test]
    fn a_closed_pipe_is_no_error() {
        let (reader, mut writer) = UnixStream::pair().expect("a pipe, nearly");
        drop(reader);
        assert!(writer.write_all(b"x").is_err());
        write(&mut writer, "nobody reads this").expect("no error");
    }

    #[test]
    fn a_full_disk_is_one() {
        let mut full = OpenOptions::new();
        let mut full = full.write(true).open("/dev/full").expect("Linux has one");
        let why = write(&mut full, "text").expect_err("no space");
        assert_eq!(why.kind(), ErrorKind::StorageFull);
    }
}
