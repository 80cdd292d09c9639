// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The access log: one JSON object a request, written once its reply has ended.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::net::IpAddr;
use std::path::Path;
use std::sync::mpsc::{sync_channel, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

use crate::store::private;
use crate::{Error, Result};

/// Lines that may wait for a slow disk; more are lost, and no request waits.
const MOST_WAITING: usize = 65_536;
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// A disk that takes longer does not keep the proxy from ending.
const LAST_LINES: Duration = Duration::from_secs(5);

#[derive(Debug)]
enum Note {
    Line(String),
    /// The sender waits until all before it is in the file.
    Flush(SyncSender<()>),
}

#[derive(Debug, Clone)]
pub struct Log(SyncSender<Note>);

impl Log {
    /// Appends to the file; `-` is the standard output.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |e| Error::Unwritable(path.into(), e);
        let file: Box<dyn Write + Send> = if path == Path::new("-") {
            Box::new(io::stdout())
        } else {
            Box::new(private(OpenOptions::new().append(true), path).map_err(failed)?)
        };
        let (lines, waiting) = sync_channel(MOST_WAITING);
        let write = move || {
            let mut file = BufWriter::new(file);
            loop {
                match waiting.recv_timeout(FLUSH_EVERY) {
                    // A full disk stops the log, not the site.
                    Ok(Note::Line(line)) => writeln!(file, "{line}").ok(),
                    Ok(Note::Flush(done)) => {
                        file.flush().ok();
                        done.try_send(()).ok()
                    }
                    Err(RecvTimeoutError::Timeout) => file.flush().ok(),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
            }
            file.flush().ok();
        };
        std::thread::Builder::new()
            .name("access log".into())
            .spawn(write)
            .map_err(failed)?;
        Ok(Self(lines))
    }

    /// Waits until all lines so far are in the file.
    pub fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.0.try_send(Note::Flush(done)).is_ok() {
            written.recv_timeout(LAST_LINES).ok();
        }
    }

    pub fn entry(&self, address: IpAddr, method: &str, url: &str, prefetch: bool) -> Entry {
        let line = Line {
            time: SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default()
                .as_secs_f64(),
            client: address,
            method: method.to_owned(),
            url: url.to_owned(),
            status: 0,
            bytes: 0,
            milliseconds: 0.0,
            prefetch,
            used: None,
            wasted: 0,
            hints: Vec::new(),
        };
        Entry {
            line,
            began: Instant::now(),
            log: self.0.clone(),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct Line {
    time: f64,
    client: IpAddr,
    method: String,
    url: String,
    pub status: u16,
    bytes: u64,
    milliseconds: f64,
    prefetch: bool,
    /// A prefetched page that this request shows to have been used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<String>,
    /// Prefetched bytes that this request shows to have been wasted.
    pub wasted: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// A line that has not ended.
#[derive(Debug)]
pub struct Entry {
    pub line: Line,
    began: Instant,
    log: SyncSender<Note>,
}

impl Entry {
    pub fn end(mut self, bytes: u64) {
        self.line.bytes = bytes;
        self.line.milliseconds = self.began.elapsed().as_secs_f64() * 1e3;
        if let Ok(text) = serde_json::to_string(&self.line) {
            self.log.try_send(Note::Line(text)).ok();
        }
    }
}
