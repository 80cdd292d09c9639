// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is counted, by Prometheus' conventions.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum Purpose {
    Demand,
    Prefetch,
}

/// Why a prefetch was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum Refusal {
    SaveData,
    Outstanding,
    Busy,
    Memory,
    Size,
    NotReusable,
    Upstream,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Requests {
    pub purpose: Purpose,
    pub status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Refused {
    pub reason: Refusal,
}

#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    pub requests: Family<Requests, Counter>,
    pub refused: Family<Refused, Counter>,
    pub hints: Counter,
    pub prefetched: Counter,
    pub used: Counter,
    pub wasted: Counter,
    pub promoted: Counter,
    pub connections: Gauge,
    pub turned_away: Counter,
    pub reply: Histogram,
    pub contexts: Gauge,
    pub urls: Gauge,
    pub learned: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("netnice_prefetch");
        let steps = [
            0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
        ];
        let new = Self {
            registry: Registry::default(),
            requests: Family::default(),
            refused: Family::default(),
            hints: Counter::default(),
            prefetched: Counter::default(),
            used: Counter::default(),
            wasted: Counter::default(),
            promoted: Counter::default(),
            connections: Gauge::default(),
            turned_away: Counter::default(),
            reply: Histogram::new(steps),
            contexts: Gauge::default(),
            urls: Gauge::default(),
            learned: Gauge::<i64>::default(),
        };
        let counters: [(&str, &str, &Counter<u64, AtomicU64>); 5] = [
            ("hints", "URLs that pages told browsers to prefetch", &new.hints),
            (
                "used",
                "Prefetched pages that were then looked at, as far as a request shows it",
                &new.used,
            ),
            (
                "promotions",
                "Prefetches that were sent on as if demanded: a visitor waited",
                &new.promoted,
            ),
            (
                "turned_away",
                "Connections beyond a limit, closed at once",
                &new.turned_away,
            ),
            ("prefetched_bytes", "Bytes of prefetched replies", &new.prefetched),
        ];
        registry.register("requests", "Requests by purpose and status", new.requests.clone());
        registry.register(
            "refused",
            "Prefetches answered with 503, by reason",
            new.refused.clone(),
        );
        for (name, help, counter) in counters {
            registry.register(name, help, counter.clone());
        }
        registry.register(
            "wasted_bytes",
            "Prefetched bytes that turned out to be for nothing",
            new.wasted.clone(),
        );
        registry.register("connections", "Open connections of browsers", new.connections.clone());
        registry.register_with_unit(
            "reply",
            "From a demand request to its reply's head",
            Unit::Seconds,
            new.reply.clone(),
        );
        registry.register("contexts", "Contexts that the predictor knows", new.contexts.clone());
        registry.register("urls", "URLs that the predictor knows", new.urls.clone());
        registry.register_with_unit("learned", "Memory for them", Unit::Bytes, new.learned.clone());
        Self { registry, ..new }
    }
}

impl Metrics {
    pub fn refuse(&self, reason: Refusal) {
        self.refused.get_or_create(&Refused { reason }).inc();
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        // A string takes everything.
        encode(&mut text, &self.registry).ok();
        text
    }
}
