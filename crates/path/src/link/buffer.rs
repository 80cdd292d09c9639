// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A drop-tail buffer of one band, or of two that share it.
//!
//! With two bands a full buffer makes room for a best effort packet by dropping lower effort packets, the
//! latest first. Lower effort never causes a best effort drop, unless it is already in service.

use std::collections::VecDeque;

use serde::Serialize;

use crate::class::Class;

/// How much a buffer holds, the packet in service included. An empty buffer takes any one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Packets(u64),
    Bytes(u64),
}

impl Limit {
    fn holds(self, occupied: Volume, bytes: u32) -> bool {
        occupied.packets == 0
            || match self {
                Limit::Packets(most) => occupied.packets < most,
                Limit::Bytes(most) => occupied.bytes + u64::from(bytes) <= most,
            }
    }
}

#[derive(Debug)]
pub(super) struct Buffer<T> {
    limit: Limit,
    priority: bool,
    /// Waiting packets; without priority the second band stays empty.
    bands: [VecDeque<Packet<T>>; 2],
    /// Bytes waiting in the second band: what could be pushed out.
    low_bytes: u64,
    /// Waiting or in service.
    occupied: Volume,
}

impl<T> Buffer<T> {
    pub(super) fn new(limit: Limit, priority: bool) -> Self {
        Buffer {
            limit,
            priority,
            bands: Default::default(),
            low_bytes: 0,
            occupied: Volume::default(),
        }
    }

    /// Queues a packet; returns the packets dropped for it, itself when there is no room.
    pub(super) fn admit(&mut self, packet: Packet<T>) -> Vec<Packet<T>> {
        let low = self.priority && packet.class == Class::LowerEffort;
        let mut dropped = Vec::new();
        if !self.limit.holds(self.occupied, packet.bytes) {
            if low || !self.limit.holds(self.occupied_without_low(), packet.bytes) {
                dropped.push(packet);
                return dropped;
            }
            while !self.limit.holds(self.occupied, packet.bytes) {
                let Some(victim) = self.bands[1].pop_back() else {
                    break;
                };
                self.low_bytes -= u64::from(victim.bytes);
                self.release(victim.bytes);
                dropped.push(victim);
            }
        }
        self.occupied.add(packet.bytes);
        if low {
            self.low_bytes += u64::from(packet.bytes);
        }
        self.bands[usize::from(low)].push_back(packet);
        dropped
    }

    /// Takes the next packet into service; its room is freed by `release` at the end of it.
    pub(super) fn take(&mut self) -> Option<Packet<T>> {
        self.bands[0].pop_front().or_else(|| {
            let packet = self.bands[1].pop_front()?;
            self.low_bytes -= u64::from(packet.bytes);
            Some(packet)
        })
    }

    pub(super) fn release(&mut self, bytes: u32) {
        self.occupied.packets -= 1;
        self.occupied.bytes -= u64::from(bytes);
    }

    pub(super) fn occupied(&self) -> Volume {
        self.occupied
    }

    fn occupied_without_low(&self) -> Volume {
        Volume {
            packets: self.occupied.packets - self.bands[1].len() as u64,
            bytes: self.occupied.bytes - self.low_bytes,
        }
    }
}

/// Nanoseconds since any fixed moment.
pub type Nanos = u64;

/// A packet in the link; `payload` is the caller's.
#[derive(Debug)]
pub(super) struct Packet<T> {
    pub arrival: Nanos,
    pub bytes: u32,
    pub class: Class,
    pub payload: T,
}

/// Packets and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Volume {
    pub packets: u64,
    pub bytes: u64,
}

impl Volume {
    pub(super) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}
