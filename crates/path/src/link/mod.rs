// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One direction of a path: loss, a bounded queue, a server of a given rate, a constant delay.
//!
//! No I/O and no clock in here: the caller says what time it is. Service is exact in that
//! virtual time however late the caller looks: a packet leaves at
//! `max(arrival, last departure) + bits / rate` and is due one delay later. With strict priority
//! the next packet is chosen when its service starts, among those that had arrived by then, and is
//! never interrupted.

mod buffer;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::class::Class;
use buffer::{Buffer, Packet};
pub use buffer::{Limit, Nanos, Volume};

/// What one direction is like.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkSpec {
    /// Bits a second; `None` serves at once.
    pub rate: Option<u64>,
    /// Time from the end of service to delivery.
    pub delay: Nanos,
    /// What may be queued, the packet in service included.
    pub limit: Limit,
    /// Probability that a packet is lost before it reaches the queue, 0 to 1.
    pub loss: f64,
    /// Serve lower effort only when nothing else waits.
    pub priority: bool,
    /// Seed of the random losses.
    pub seed: u64,
}

/// A packet at the far end.
#[derive(Debug, PartialEq, Eq)]
pub struct Delivery<T> {
    /// When it should have been handed over.
    pub due: Nanos,
    /// Time from arrival to the end of its service.
    pub queued: Nanos,
    pub bytes: u32,
    pub class: Class,
    pub payload: T,
}

/// What happened to one class since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    pub arrived: Volume,
    pub served: Volume,
    pub dropped_full: Volume,
    pub dropped_loss: Volume,
}

#[derive(Debug)]
struct Service<T> {
    packet: Packet<T>,
    departure: Nanos,
}

/// One direction of a path.
#[derive(Debug)]
pub struct Link<T> {
    spec: LinkSpec,
    random: fastrand::Rng,
    buffer: Buffer<T>,
    serving: Option<Service<T>>,
    /// Part of a nanosecond, in 1/rate, that the last service time was rounded down by.
    carry: u64,
    flying: VecDeque<Delivery<T>>,
    counters: [Counters; 2],
}

impl<T> Link<T> {
    /// An empty link.
    pub fn new(spec: LinkSpec) -> Self {
        Link {
            random: fastrand::Rng::with_seed(spec.seed),
            buffer: Buffer::new(spec.limit, spec.priority),
            serving: None,
            carry: 0,
            flying: VecDeque::new(),
            counters: Default::default(),
            spec,
        }
    }

    /// A packet arrives at `now`, which never goes back. Payloads dropped for it, its own or others', are
    /// appended to `dropped`.
    pub fn offer(&mut self, now: Nanos, class: Class, bytes: u32, payload: T, dropped: &mut Vec<T>) {
        self.advance(now);
        let counters = &mut self.counters[class.index()];
        counters.arrived.add(bytes);
        if self.spec.loss > 0.0 && self.random.f64() < self.spec.loss {
            counters.dropped_loss.add(bytes);
            dropped.push(payload);
            return;
        }
        let packet = Packet {
            arrival: now,
            bytes,
            class,
            payload,
        };
        for victim in self.buffer.admit(packet) {
            self.counters[victim.class.index()].dropped_full.add(victim.bytes);
            dropped.push(victim.payload);
        }
        if self.serving.is_none() {
            self.carry = 0;
            self.serve_next(now);
        }
    }

    /// Ends every service due by `now` and starts what follows, at the exact times.
    pub fn advance(&mut self, now: Nanos) {
        while let Some(service) = self.serving.take_if(|service| service.departure <= now) {
            let departure = service.departure;
            self.depart(service);
            self.serve_next(departure);
        }
    }

    /// The next packet to hand over that is due by `now`.
    pub fn deliver(&mut self, now: Nanos) -> Option<Delivery<T>> {
        self.advance(now);
        if self.flying.front()?.due > now {
            return None;
        }
        self.flying.pop_front()
    }

    /// When the next packet is due, if nothing else arrives.
    pub fn next_due(&self) -> Option<Nanos> {
        let flying = self.flying.front().map(|delivery| delivery.due);
        flying.or_else(|| self.serving.as_ref().map(|service| service.departure + self.spec.delay))
    }

    /// What is queued, the packet in service included, as of the last time given.
    pub fn queued(&self) -> Volume {
        self.buffer.occupied()
    }

    /// What is in the link: queued or under way.
    pub fn inside(&self) -> u64 {
        self.buffer.occupied().packets + self.flying.len() as u64
    }

    /// Counters of one class since the start.
    pub fn counters(&self, class: Class) -> Counters {
        self.counters[class.index()]
    }

    /// What this link is like.
    pub fn spec(&self) -> &LinkSpec {
        &self.spec
    }

    fn serve_next(&mut self, mut start: Nanos) {
        while let Some(packet) = self.buffer.take() {
            let departure = start + self.service_time(packet.bytes);
            let service = Service { packet, departure };
            if departure > start {
                self.serving = Some(service);
                return;
            }
            self.depart(service);
            start = departure;
        }
    }

    /// Rounds down and carries the rest, so that a busy link is exact over any number of packets.
    fn service_time(&mut self, bytes: u32) -> Nanos {
        let Some(rate) = self.spec.rate else { return 0 };
        let work = u128::from(bytes) * 8_000_000_000 + u128::from(self.carry);
        self.carry = (work % u128::from(rate)) as u64;
        (work / u128::from(rate)) as u64
    }

    fn depart(&mut self, Service { packet, departure }: Service<T>) {
        self.buffer.release(packet.bytes);
        self.counters[packet.class.index()].served.add(packet.bytes);
        self.flying.push_back(Delivery {
            due: departure + self.spec.delay,
            queued: departure - packet.arrival,
            bytes: packet.bytes,
            class: packet.class,
            payload: packet.payload,
        });
    }
}
