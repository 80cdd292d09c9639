// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What connections did between two looks at them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{self, Display, Formatter};
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Instant;

use clap::ValueEnum;
use netnice_loader::base::Bases;
use netnice_loader::deadline::{self, Ending};
use netnice_loader::floor::{self, Floor};
use netnice_loader::live::{self, Receiving};
use netnice_loader::sockets::{flows, owners, Flow, Owner};
use serde::Serialize;

/// All connections at one moment.
pub struct Look {
    at: Instant,
    flows: Vec<Flow>,
    owners: HashMap<u32, Owner>,
    /// Of sockets of the background, by inode; empty without root.
    receiving: HashMap<u64, Receiving>,
}

impl Look {
    /// Bases are those of earlier looks.
    pub fn now(bases: &mut Bases) -> netnice_loader::Result<Self> {
        let mut flows = flows()?;
        let at = Instant::now();
        bases.apply(&mut flows, at);
        let owners = owners();
        let in_background = |flow: &Flow| {
            let owner = owners.get(&flow.inode)?;
            level(flow, Some(owner)).map(|_| owner.pid)
        };
        let pids: BTreeSet<u32> = flows.iter().filter_map(in_background).collect();
        Ok(Self {
            at,
            receiving: pids.into_iter().filter_map(live::receiving).flatten().collect(),
            flows,
            owners,
        })
    }
}

/// `None` in the foreground.
fn level(flow: &Flow, owner: Option<&Owner>) -> Option<u32> {
    flow.level().max(owner.and_then(|owner| owner.level))
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum Column {
    // Both directions together.
    #[default]
    Rate,
    Out,
    In,
    Window,
    Rtt,
    Queue,
}

/// A connection; rates in bits a second.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// `None` in the foreground.
    pub level: Option<u32>,
    pub pid: Option<u32>,
    pub program: String,
    pub unit: String,
    pub out_bps: u64,
    pub in_bps: u64,
    /// When its process is in the foreground again, or less in the background; `None`: never, or only root can see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Ending>,
    /// What its process' connections have together at least; `None`: nothing, or only root can see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Floor>,
    /// Queueing delay in the direction of most of its data. `None`: not known, or only root can see it.
    pub queue_us: Option<u32>,
    #[serde(flatten)]
    pub flow: Flow,
}

impl Row {
    fn of(flow: &Flow, now: &Look, earlier: Option<&Flow>, seconds: f64) -> Self {
        let owner = now.owners.get(&flow.inode);
        let rate = |now: u64, before: Option<u64>| {
            let bytes = before.map_or(0, |before| now.saturating_sub(before));
            (bytes as f64 * 8.0 / seconds) as u64
        };
        let out_bps = rate(flow.sent, earlier.map(|e| e.sent));
        let in_bps = rate(flow.received, earlier.map(|e| e.received));
        let is_download = (in_bps, flow.received) > (out_bps, flow.sent);
        Self {
            level: level(flow, owner),
            pid: owner.map(|o| o.pid),
            program: owner.map_or("-", |o| &o.program).to_owned(),
            unit: owner.map_or("-", |o| &o.unit).to_owned(),
            out_bps,
            in_bps,
            until: owner.and_then(|owner| Some(deadline::of(owner.pid)?.until)),
            at_least: owner.and_then(|owner| floor::kept(owner.pid)),
            queue_us: match is_download {
                true => now.receiving.get(&flow.inode.into()).and_then(|known| known.queue_us),
                false => flow.queue_us(), // the kernel measures the round trips of what is sent
            },
            flow: flow.clone(),
        }
    }

    /// Does it have this text in it, whatever its case?
    pub fn mentions(&self, text: &str) -> bool {
        let flow = &self.flow;
        let ends = [flow.local.to_string(), flow.peer.to_string()];
        let names = [&self.program, &self.unit, &flow.congestion_control];
        let text = text.to_lowercase();
        let mut all = names.into_iter().chain(&ends);
        all.any(|name| name.to_lowercase().contains(&text))
    }

    /// What keeps it from yielding, or from getting through.
    fn notes(&self) -> Vec<String> {
        let (program, peer) = (&self.program, self.flow.peer);
        let mut notes = Vec::new();
        if let Some(until) = self.until {
            notes.push(format!("{program} to {peer}: in the background until {until}.\n"));
        }
        if let Some(floor) = self.at_least {
            notes.push(format!(
                "{program} to {peer}: at least {floor}, with all connections that share it.\n"
            ));
        }
        if self.flow.is_stuck() {
            notes.push(format!(
                "{program} to {peer}: nothing that it sends has arrived since {} timeouts. The peer may be gone, or the path \
                 may drop packets marked DSCP LE.\nTo find out, start it with 'netnice --no-mark'.\n",
                self.flow.timeouts
            ));
        }
        if self.flow.is_coarse() {
            notes.push(format!(
                "{program} from {peer}: what it receives yields badly: its window scale is {}, chosen when it was opened \
                 without netnice.\nA connection that a program opens with netnice yields well.\n",
                self.flow.receive_scale
            ));
        }
        notes
    }

    fn key(&self, column: Column) -> u64 {
        match column {
            Column::Rate => self.out_bps + self.in_bps,
            Column::Out => self.out_bps,
            Column::In => self.in_bps,
            Column::Window => self.flow.window,
            Column::Rtt => self.flow.rtt_us.into(),
            Column::Queue => self.queue_us.unwrap_or_default().into(),
        }
    }
}

/// The sums of one unit of systemd, or cgroup.
#[derive(Debug, Default, Serialize)]
pub struct Sum {
    pub connections: usize,
    pub out_bps: u64,
    pub in_bps: u64,
}

#[derive(Debug, Serialize)]
pub struct Traffic {
    pub connections: Vec<Row>,
    pub units: BTreeMap<String, Sum>,
}

impl Traffic {
    /// A connection that is new since `before` has no rate yet.
    pub fn between(before: &Look, now: &Look) -> Self {
        let end = |flow: &Flow| -> (SocketAddr, SocketAddr) { (flow.local, flow.peer) };
        let earlier: HashMap<_, _> = before.flows.iter().map(|f| (end(f), f)).collect();
        let seconds = now.at.duration_since(before.at).as_secs_f64().max(1e-3);
        let row = |flow: &Flow| {
            let before = earlier.get(&end(flow)).copied();
            let same = before.filter(|before| before.inode == flow.inode);
            Row::of(flow, now, same, seconds)
        };
        let mut traffic = Self {
            connections: now.flows.iter().map(row).collect(),
            units: BTreeMap::new(),
        };
        traffic.add_up();
        traffic
    }

    pub fn keep(&mut self, which: impl Fn(&Row) -> bool) {
        self.connections.retain(which);
        self.add_up();
    }

    pub fn sort(&mut self, by: Column) {
        let order = |row: &Row| (std::cmp::Reverse(row.key(by)), row.flow.local, row.flow.peer);
        self.connections.sort_by_key(order);
    }

    fn add_up(&mut self) {
        self.units.clear();
        for row in &self.connections {
            let sum = self.units.entry(row.unit.clone()).or_default();
            sum.connections += 1;
            sum.out_bps += row.out_bps;
            sum.in_bps += row.in_bps;
        }
    }
}

impl Display for Traffic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<5} {:>7} {:<15} {:>9} {:>9} {:>8} {:>8} {:>8} {:<9} {:<4} {:<12} {:<28} UNIT",
            "LEVEL", "PID", "PROGRAM", "OUT", "IN", "WINDOW", "RTT", "QUEUE", "CONTROL", "DSCP", "STATE", "PEER"
        )?;
        for row in &self.connections {
            line(f, row)?;
        }
        writeln!(f, "\n{:<5} {:>9} {:>9} UNIT", "CONNS", "OUT", "IN")?;
        for (unit, sum) in &self.units {
            let (out, into) = (bits(sum.out_bps), bits(sum.in_bps));
            writeln!(f, "{:<5} {out:>9} {into:>9} {unit}", sum.connections)?;
        }
        let background = self.connections.iter().filter(|row| row.level.is_some());
        background
            .flat_map(Row::notes)
            .try_for_each(|note| write!(f, "\n{note}"))
    }
}

fn line(f: &mut Formatter<'_>, row: &Row) -> fmt::Result {
    let flow = &row.flow;
    let level = row.level.map_or("-".to_owned(), |level| level.to_string());
    let pid = row.pid.map_or("-".to_owned(), |pid| pid.to_string());
    writeln!(
        f,
        "{level:<5} {pid:>7} {:<15} {:>9} {:>9} {:>8} {:>8} {:>8} {:<9} {:<4} {:<12} {:<28} {}",
        row.program,
        bits(row.out_bps),
        bits(row.in_bps),
        scaled(flow.window, 1024, ["B", "KiB", "MiB", "GiB"]),
        milliseconds(flow.rtt_us),
        row.queue_us.map_or("-".to_owned(), milliseconds),
        flow.congestion_control,
        code_point(flow),
        flow.state,
        flow.peer.to_string(),
        row.unit
    )
}

/// What it sends with.
fn code_point(flow: &Flow) -> String {
    match flow.dscp {
        0 => "-".to_owned(),
        _ if flow.is_marked() => "LE".to_owned(),
        other => other.to_string(),
    }
}

pub fn bits(rate: u64) -> String {
    scaled(rate, 1000, ["bit/s", "kb/s", "Mb/s", "Gb/s"])
}

pub fn milliseconds(us: u32) -> String {
    format!("{:.1}ms", f64::from(us) / 1e3)
}

fn scaled(number: u64, step: u64, units: [&str; 4]) -> String {
    let mut unit = 0;
    let mut rest = number as f64;
    while rest >= step as f64 && unit + 1 < units.len() {
        rest /= step as f64;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && rest < 100.0);
    format!("{rest:.digits$}{}", units[unit])
}

/// One end: an address with a port, or a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Address(SocketAddr),
    Port(u16),
}

impl End {
    fn is(self, address: SocketAddr) -> bool {
        match self {
            Self::Address(own) => own == plain(address),
            Self::Port(port) => port == address.port(),
        }
    }
}

/// Of a v4-mapped address the IPv4 one, as people write it.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

impl FromStr for End {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some(port) = text.strip_prefix(':') {
            return port.parse().map(Self::Port).map_err(drop);
        }
        text.parse().map(|a| Self::Address(plain(a))).map_err(drop)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowFilter(End, Option<End>);

impl FlowFilter {
    /// In either order.
    pub fn matches(&self, flow: &Flow) -> bool {
        let both = |a, b| self.0.is(a) && self.1.is_none_or(|other| other.is(b));
        both(flow.local, flow.peer) || both(flow.peer, flow.local)
    }
}

impl FromStr for FlowFilter {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.split_once('-') {
            None => Ok(Self(text.parse()?, None)),
            Some((one, other)) => Ok(Self(one.parse()?, Some(other.parse()?))),
        }
    }
}

#[cfg(test)]
mod tests;
