// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The event loop: packets in, packets out on time.

use std::os::fd::AsFd;

use anyhow::{Context, Result};
use hdrhistogram::Histogram;
use nix::errno::Errno;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use nix::sys::time::TimeSpec;

use crate::class::Class;
use crate::direction::{histogram, Direction};
use crate::endpoints::Endpoints;
use crate::link::Nanos;
use crate::options::PathSpec;
use crate::system::now;
use crate::system::supervisor::Supervisor;
use crate::trace::Trace;

/// Packets read or written before looking at the clock and the other direction again.
const BATCH: usize = 16;
const LARGEST_PACKET: usize = 65_536;
/// Without traffic nothing would be late: so the loop also wakes up on its own and sees how late that is.
const BEAT: Nanos = 10_000_000;

/// A path at work.
#[derive(Debug)]
pub struct Emulator {
    endpoints: Endpoints,
    /// Up, and down.
    pub directions: [Direction; 2],
    pub started: Nanos,
    /// Nanoseconds by which the beats were late, those that a stall left out included.
    pub beats: Histogram<u64>,
    next_beat: Nanos,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
    scratch: Vec<u8>,
}

impl Emulator {
    pub fn new(endpoints: Endpoints, path: PathSpec) -> Emulator {
        let started = now();
        Emulator {
            endpoints,
            directions: [Direction::new(path.up), Direction::new(path.down)],
            started,
            beats: histogram(),
            next_beat: started + BEAT,
            spare: Vec::new(),
            scratch: vec![0; LARGEST_PACKET],
        }
    }

    /// Runs until the command ends or, without one, a signal says to stop.
    pub fn run(
        &mut self,
        signals: &SignalFd,
        supervisor: Option<&Supervisor>,
        trace: &mut Option<Trace>,
    ) -> Result<()> {
        loop {
            let more = self.deliver();
            self.beat();
            if let Some(trace) = trace {
                trace.tick(now(), &mut self.directions)?;
            }
            let [a, b, signal, end] = self.wait(more, signals, supervisor, trace.as_ref())?;
            if a {
                self.receive(0)?;
            }
            if b {
                self.receive(1)?;
            }
            if end || signal && stop(signals, supervisor)? {
                return Ok(());
            }
        }
    }

    fn beat(&mut self) {
        let now = now();
        if now >= self.next_beat {
            let late = now - self.next_beat;
            let late_at_most = late.min(self.beats.high());
            // Cannot fail: the value is within the bounds.
            self.beats.record_correct(late_at_most, BEAT).ok();
            self.next_beat += (late / BEAT + 1) * BEAT;
        }
    }

    /// Packets the kernel dropped before they could be read, up and down.
    pub fn missed(&mut self) -> [u64; 2] {
        [self.endpoints.a.missed(), self.endpoints.b.missed()]
    }

    /// Sleeps until a packet is due, a descriptor is ready or a line of the trace is due; says which are ready.
    fn wait(
        &self,
        more: bool,
        signals: &SignalFd,
        supervisor: Option<&Supervisor>,
        trace: Option<&Trace>,
    ) -> Result<[bool; 4]> {
        let due = self.directions.iter().filter_map(|d| d.link.next_due());
        let next = due.chain(trace.map(Trace::next)).fold(self.next_beat, Nanos::min);
        let rest = if more { 0 } else { next.saturating_sub(now()) };
        let timeout = TimeSpec::new((rest / 1_000_000_000) as i64, (rest % 1_000_000_000) as i64);
        let read = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut fds = [
            read(self.endpoints.a.tun.as_fd()),
            read(self.endpoints.b.tun.as_fd()),
            read(signals.as_fd()),
            // Without a command, the signals a second time.
            read(supervisor.map_or(signals.as_fd(), AsFd::as_fd)),
        ];
        match ppoll(&mut fds, Some(timeout), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(e) => return Err(e).context("cannot wait for packets"),
        }
        let mut ready = fds.map(|fd| fd.any().unwrap_or(false));
        ready[3] &= supervisor.is_some();
        Ok(ready)
    }

    /// Reads a batch of packets from end `from` into its direction.
    fn receive(&mut self, from: usize) -> Result<()> {
        let tun = if from == 0 {
            &mut self.endpoints.a.tun
        } else {
            &mut self.endpoints.b.tun
        };
        for _ in 0..BATCH {
            let read = tun
                .receive(&mut self.scratch)
                .with_context(|| format!("device {} is gone; was its namespace deleted?", tun.name()))?;
            let Some(length) = read else { break };
            let bytes = &self.scratch[..length];
            let mut payload = self.spare.pop().unwrap_or_default();
            payload.clear();
            payload.extend_from_slice(bytes);
            self.directions[from]
                .link
                .offer(now(), Class::of(bytes), length as u32, payload, &mut self.spare);
        }
        Ok(())
    }

    /// Hands over a batch of what is due; whether there may be more.
    fn deliver(&mut self) -> bool {
        let tuns = [&mut self.endpoints.b.tun, &mut self.endpoints.a.tun];
        let mut more = false;
        for (direction, tun) in self.directions.iter_mut().zip(tuns) {
            let mut room = BATCH;
            while let Some(delivery) = direction.link.deliver(now()) {
                let late = now() - delivery.due;
                if tun.send(&delivery.payload).is_ok() {
                    let volume = &mut direction.delivered[delivery.class.index()];
                    volume.packets += 1;
                    volume.bytes += u64::from(delivery.bytes);
                } else {
                    direction.refused += 1;
                }
                direction.lateness.saturating_record(late);
                direction.queued[delivery.class.index()].saturating_record(delivery.queued);
                self.spare.push(delivery.payload);
                room -= 1;
                if room == 0 {
                    more = true;
                    break;
                }
            }
        }
        more
    }
}

/// Passes a signal to the command; without one, every signal means stop.
fn stop(signals: &SignalFd, supervisor: Option<&Supervisor>) -> Result<bool> {
    let Some(info) = signals.read_signal().context("cannot read a signal")? else {
        return Ok(false);
    };
    let Some(supervisor) = supervisor else {
        return Ok(true);
    };
    // What the terminal sends reaches the command without us.
    if info.ssi_code <= 0 {
        supervisor.signal(Signal::try_from(info.ssi_signo as i32)?);
    }
    Ok(false)
}
