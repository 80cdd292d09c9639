// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A log as visits: pages with what they embed, and how long their users looked at them.

use std::collections::HashMap;
use std::io::BufRead;
use std::time::Duration;

use netnice_prefetch_predictor::log::{is_page, Reader, Record};

/// After so long without a request a client's next one begins a new visit.
const VISIT: Duration = Duration::from_secs(30 * 60);

/// A page, and what was asked for with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub page: String,
    pub embedded: Vec<String>,
    /// Until the client's next page.
    pub think: Duration,
}

/// What one client asked for without a long pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Since the log began.
    pub begins: Duration,
    pub views: Vec<View>,
}

/// What of a log can be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Each client's visits; clients in the order of their first requests.
    pub clients: Vec<Vec<Visit>>,
    pub requests: usize,
    /// Lines of no log, and requests that cannot be played.
    pub skipped: usize,
}

/// The log's requests that can be played, by time: servers write them as they end.
pub fn records(log: impl BufRead) -> std::io::Result<(Vec<Record>, usize)> {
    let (mut reader, mut skipped) = (Reader::default(), 0);
    let mut records = Vec::new();
    for line in log.split(b'\n') {
        let line = line?;
        match reader.line(String::from_utf8_lossy(&line).trim_end()) {
            Some(record) if record.is_learnable() => records.push(record),
            _ => skipped += 1,
        }
    }
    records.sort_by_key(|r| r.at);
    Ok((records, skipped))
}

impl Trace {
    /// The log cannot be read.
    pub fn read(log: impl BufRead) -> std::io::Result<Self> {
        let (records, skipped) = records(log)?;
        let begin = records.first().map_or(Duration::ZERO, |r| r.at);
        let (mut clients, mut numbers) = (Vec::<Client>::new(), HashMap::new());
        let requests = records.len();
        for record in records {
            let client = (record.address.clone(), record.program.clone());
            let number = *numbers.entry(client).or_insert(clients.len());
            if number == clients.len() {
                clients.push(Client::default());
            }
            clients[number].ask(record, begin);
        }
        let clients = clients.into_iter().map(|c| c.visits).collect();
        Ok(Self {
            clients,
            requests,
            skipped,
        })
    }

    /// The visits of each of `count` virtual clients, in the order of their beginnings.
    pub fn deal(self, count: usize) -> Vec<Vec<Visit>> {
        let mut dealt = vec![Vec::new(); count];
        for (number, visits) in self.clients.into_iter().enumerate() {
            dealt[number % count].extend(visits);
        }
        for visits in &mut dealt {
            visits.sort_by_key(|v: &Visit| v.begins);
        }
        dealt
    }
}

#[derive(Debug, Default)]
struct Client {
    visits: Vec<Visit>,
    /// When the latest view began, and the latest request was.
    began: Duration,
    latest: Duration,
}

impl Client {
    fn ask(&mut self, record: Record, begin: Duration) {
        let page = is_page(&record.url);
        let silent = record.at - self.latest;
        self.latest = record.at;
        if self.visits.is_empty() || silent >= VISIT {
            self.visits.push(Visit {
                begins: record.at - begin,
                views: Vec::new(),
            });
        }
        let views = &mut self.visits.last_mut().expect("there is one now").views;
        match views.last_mut() {
            Some(view) if !page => view.embedded.push(record.url),
            last => {
                if let Some(view) = last {
                    view.think = record.at - self.began;
                }
                self.began = record.at;
                views.push(View {
                    page: record.url,
                    embedded: Vec::new(),
                    think: Duration::ZERO,
                });
            }
        }
    }
}
