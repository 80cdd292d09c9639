// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Open files: as many as the limits of connections need, where the system allows so many.

use std::io;

use netnice_output::complain;

/// The store, logs, listeners, the operator.
const OTHERS: u64 = 64;

/// For a connection to a browser and one to the site's server each.
pub fn allow(connections: usize) {
    let needed = 2 * connections as u64 + OTHERS;
    match raise(needed) {
        Ok(files) if files < needed => complain(format!(
            "the system allows {files} open files, and {connections} connections need {needed}: raise that \
             (LimitNOFILE= of a unit, ulimit -Hn), or lower limits.connections"
        )),
        Ok(_) => {}
        Err(e) => complain(format!("cannot raise the number of open files: {e}")),
    }
}

/// Raises the limit to `needed`, or as far as the system allows; gives the limit then.
fn raise(needed: u64) -> io::Result<u64> {
    let mut limit = read()?;
    if limit.rlim_cur < needed {
        limit.rlim_cur = needed.min(limit.rlim_max);
        write(&limit)?;
    }
    Ok(limit.rlim_cur)
}

fn read() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: it writes to `limit`, which outlives the call.
    match unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } {
        0 => Ok(limit),
        _ => Err(io::Error::last_os_error()),
    }
}

fn write(limit: &libc::rlimit) -> io::Result<()> {
    // SAFETY: it reads `limit`, which outlives the call.
    match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_files_as_are_needed_and_allowed() {
        let before = read().expect("a limit");
        let low = libc::rlimit {
            rlim_cur: 200,
            ..before
        };
        write(&low).expect("to lower it");
        assert_eq!(raise(100).expect("enough"), 200);
        assert_eq!(raise(250).expect("to raise it"), 250);
        assert_eq!(read().expect("a limit").rlim_cur, 250);
        assert_eq!(raise(u64::MAX).expect("to raise it"), before.rlim_max);
    }
}
