// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The state of things, for Prometheus: its text format 0.0.4, names by its conventions.

use netnice_loader::policy::Counters;
use netnice_loader::status::{Condition, Status};
use prometheus::{IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, Result, TextEncoder};

/// Counters begin at 0 with each up. What may not be read is left out.
pub fn text(status: &Status) -> Result<String> {
    let registry = Registry::new();
    let up = IntGauge::new("netnice_up", "Whether netnice is loaded, completely.")?;
    registry.register(Box::new(up.clone()))?;
    let whole = matches!(status.condition, Condition::Up | Condition::Hidden);
    up.set(whole.into());

    let open = gauges(
        &registry,
        "netnice_connections",
        "Connections of this network namespace, by congestion control.",
        &["algorithm"],
    )?;
    let counted = status.connections_untold.is_none();
    for c in status.connections.iter().filter(|_| counted) {
        open.with_label_values(&[&c.algorithm]).set(signed(c.count as u64));
    }
    let groups = Groups::register(&registry)?;
    for group in &status.groups {
        groups.processes(&group.name, group.processes.len());
        if let Some(counters) = &group.counters {
            groups.count(&group.name, counters);
        }
    }
    if let Some(niceness) = &status.niceness {
        groups.processes(OWN, niceness.processes.len());
        groups.count(OWN, &niceness.counters);
        let help = "Times that a process stayed in the foreground for want of room.";
        count(&registry, "netnice_processes_refused_total", help, niceness.refused)?;
    }
    if let Some(receiver) = &status.receiver {
        let c = &receiver.counters;
        for (name, help, value) in [
            (
                "connections",
                "Connections that yield with what they receive.",
                c.connections,
            ),
            ("adopted", "Of these, those that were in use already.", c.adopted),
            (
                "refused",
                "Connections that do not yield, for lack of memory.",
                c.refused,
            ),
            ("segments", "Segments received on them.", c.segments),
            (
                "unstamped_segments",
                "Of these, those without a timestamp.",
                c.unstamped,
            ),
            ("refused_windows", "Windows that the kernel refused.", c.clamp_failed),
        ] {
            let name = format!("netnice_receiver_{name}_total");
            count(&registry, &name, help, value)?;
        }
    }
    if let Some(refused) = status.quic_refused {
        let help = "Datagrams, and connections of UDP sockets, to QUIC's port that were refused.";
        count(&registry, "netnice_quic_refused_total", help, refused)?;
    }
    TextEncoder::new().encode_to_string(&registry.gather())
}

/// The value of the label `group` for processes that are nice by themselves, whatever their cgroup.
const OWN: &str = "own";

struct Groups {
    processes: IntGaugeVec,
    opened: IntCounterVec,
    accepted: IntCounterVec,
    not_slowed: IntCounterVec,
    marked: IntCounterVec,
    not_marked: IntCounterVec,
}

impl Groups {
    fn register(registry: &Registry) -> Result<Self> {
        let counter = |name: &str, help: &str| counters(registry, name, help, &["group"]);
        Ok(Self {
            processes: gauges(
                registry,
                "netnice_processes",
                "Processes in the background, by the group they are in; 'own': nice by themselves.",
                &["group"],
            )?,
            opened: counter("netnice_opened_total", "Connections opened by them.")?,
            accepted: counter("netnice_accepted_total", "Connections accepted by them.")?,
            not_slowed: counter(
                "netnice_not_slowed_total",
                "Connections that kept their congestion control.",
            )?,
            marked: counter("netnice_marked_total", "Connections marked DSCP LE.")?,
            not_marked: counter("netnice_not_marked_total", "Connections that could not be marked.")?,
        })
    }

    fn processes(&self, group: &str, count: usize) {
        self.processes.with_label_values(&[group]).set(signed(count as u64));
    }

    fn count(&self, group: &str, c: &Counters) {
        for (family, value) in [
            (&self.opened, c.active),
            (&self.accepted, c.passive),
            (&self.not_slowed, c.cc_failed),
            (&self.marked, c.marked),
            (&self.not_marked, c.mark_failed + c.mapped_unmarked),
        ] {
            family.with_label_values(&[group]).inc_by(value);
        }
    }
}

fn count(registry: &Registry, name: &str, help: &str, value: u64) -> Result<()> {
    let counter = prometheus::IntCounter::new(name, help)?;
    counter.inc_by(value);
    registry.register(Box::new(counter))
}

fn counters(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> Result<IntCounterVec> {
    let family = IntCounterVec::new(Opts::new(name, help), labels)?;
    registry.register(Box::new(family.clone()))?;
    Ok(family)
}

fn gauges(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> Result<IntGaugeVec> {
    let family = IntGaugeVec::new(Opts::new(name, help), labels)?;
    registry.register(Box::new(family.clone()))?;
    Ok(family)
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
