// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The summary at the end, for people and for programs, and whether to believe it.

use std::fmt::{self, Display, Formatter};

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::class::Class;
use crate::direction::{Direction, Settings};
use crate::emulator::Emulator;
use crate::link::{Counters, Nanos, Volume};
use crate::system::now;

/// Deliveries may be this late, 99 of 100, whatever the path; or, if more, by this part of the round-trip delay.
const LATE: Nanos = 1_000_000;
const LATE_PART_OF_RTT: f64 = 0.05;

/// What a run was like.
#[derive(Debug, Serialize)]
pub struct Report {
    pub seconds: f64,
    /// Whether the machine kept up.
    pub trusted: bool,
    /// If not, why.
    pub reasons: Vec<String>,
    /// Whether real-time scheduling was granted.
    pub real_time: bool,
    /// How late the emulator woke up, every 10 ms with or without traffic.
    pub wake_ups: Spread,
    pub up: Side,
    pub down: Side,
}

/// One direction.
#[derive(Debug, Serialize)]
pub struct Side {
    pub path: Settings,
    pub best_effort: Flow,
    pub lower_effort: Flow,
    /// Still in the path at the end.
    pub inside: u64,
    /// Not taken by the kernel at the far end.
    pub refused: u64,
    /// Dropped by the kernel before they could be read.
    pub missed: u64,
    pub lateness: Spread,
}

/// One class of packets.
#[derive(Debug, Serialize)]
pub struct Flow {
    #[serde(flatten)]
    pub counters: Counters,
    pub delivered: Volume,
    pub queued: Spread,
}

/// A distribution, in microseconds.
#[derive(Debug, Serialize)]
pub struct Spread {
    pub p50_us: f64,
    pub p90_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
}

impl Report {
    pub fn new(emulator: &mut Emulator, real_time: bool) -> Report {
        let missed = emulator.missed();
        let [up, down] = &emulator.directions;
        let rtt = up.link.spec().delay + down.link.spec().delay;
        let (up, down) = (side(up, missed[0]), side(down, missed[1]));
        let wake_ups = Spread::of(&emulator.beats);
        let reasons = doubts(rtt, &wake_ups, &up, &down);
        Report {
            seconds: (now() - emulator.started) as f64 / 1e9,
            trusted: reasons.is_empty(),
            reasons,
            real_time,
            wake_ups,
            up,
            down,
        }
    }
}

fn doubts(rtt: Nanos, wake_ups: &Spread, up: &Side, down: &Side) -> Vec<String> {
    let bound_us = (LATE as f64).max(rtt as f64 * LATE_PART_OF_RTT) / 1e3;
    let mut reasons = Vec::new();
    if wake_ups.p99_us > bound_us {
        let late = Micros(wake_ups.p99_us);
        reasons.push(format!(
            "for 1 % of the time netnice-path was kept off the CPU by {late} or more (limit {})",
            Micros(bound_us)
        ));
    }
    for (name, side) in [("up", up), ("down", down)] {
        if side.lateness.p99_us > bound_us {
            let late = Micros(side.lateness.p99_us);
            reasons.push(format!(
                "{name}: 1 % of packets were more than {late} late (limit {})",
                Micros(bound_us)
            ));
        }
        if side.missed > 0 {
            reasons.push(format!(
                "{name}: the kernel dropped {} packets before they could be read",
                side.missed
            ));
        }
    }
    reasons
}

fn side(direction: &Direction, missed: u64) -> Side {
    let flow = |class: Class| Flow {
        counters: direction.link.counters(class),
        delivered: direction.delivered[class.index()],
        queued: Spread::of(&direction.queued[class.index()]),
    };
    Side {
        path: Settings::of(direction.link.spec()),
        best_effort: flow(Class::BestEffort),
        lower_effort: flow(Class::LowerEffort),
        inside: direction.link.inside(),
        refused: direction.refused,
        missed,
        lateness: Spread::of(&direction.lateness),
    }
}

impl Spread {
    fn of(histogram: &Histogram<u64>) -> Spread {
        let at = |quantile| histogram.value_at_quantile(quantile) as f64 / 1e3;
        Spread {
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: at(1.0),
        }
    }
}

/// Microseconds, with a unit that suits.
struct Micros(f64);

impl Display for Micros {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self.0 {
            us if us < 1e3 => write!(f, "{us:.0} us"),
            us if us < 1e6 => write!(f, "{:.2} ms", us / 1e3),
            us => write!(f, "{:.2} s", us / 1e6),
        }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "{:.1} s", self.seconds)?;
        writeln!(
            f,
            "{:22}{:>11}{:>11}{:>11}{:>11}",
            "packets", "in", "out", "queue full", "lost"
        )?;
        for (name, side) in [("up", &self.up), ("down", &self.down)] {
            for (class, flow) in [("best effort", &side.best_effort), ("lower effort", &side.lower_effort)] {
                let Counters {
                    arrived,
                    dropped_full,
                    dropped_loss,
                    ..
                } = flow.counters;
                if arrived.packets > 0 {
                    let out = flow.delivered.packets;
                    let (full, lost) = (dropped_full.packets, dropped_loss.packets);
                    writeln!(
                        f,
                        "  {name:6}{class:14}{:>11}{out:>11}{full:>11}{lost:>11}",
                        arrived.packets
                    )?;
                }
            }
            if side.refused > 0 {
                writeln!(
                    f,
                    "  {name:6}{} packets were not taken by the kernel at the far end",
                    side.refused
                )?;
            }
        }
        for (name, side) in [("up", &self.up), ("down", &self.down)] {
            if side.best_effort.delivered.packets + side.lower_effort.delivered.packets == 0 {
                continue;
            }
            let Spread {
                p50_us,
                p90_us,
                p99_us,
                p999_us,
                max_us,
            } = side.lateness;
            let [p50, p90, p99, p999, max] = [p50_us, p90_us, p99_us, p999_us, max_us].map(Micros);
            writeln!(
                f,
                "  {name:6}late by: half {p50}, 90 % {p90}, 99 % {p99}, 99.9 % {p999}, most {max}"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{Limit, LinkSpec};

    fn spread(p99_us: f64) -> Spread {
        Spread {
            p50_us: 0.0,
            p90_us: 0.0,
            p99_us,
            p999_us: p99_us,
            max_us: p99_us,
        }
    }

    fn late(p99_us: f64, missed: u64) -> Side {
        let flow = || Flow {
            counters: Counters::default(),
            delivered: Volume::default(),
            queued: spread(0.0),
        };
        let spec = LinkSpec {
            rate: None,
            delay: 0,
            limit: Limit::Packets(1),
            loss: 0.0,
            priority: false,
            seed: 0,
        };
        Side {
            path: Settings::of(&spec),
            best_effort: flow(),
            lower_effort: flow(),
            inside: 0,
            refused: 0,
            missed,
            lateness: spread(p99_us),
        }
    }

    #[test]
    fn a_run_is_trusted_unless_the_machine_was_late_or_lost_packets() {
        let doubted = |rtt, wake_us, up, down| doubts(rtt, &spread(wake_us), &up, &down);
        assert!(doubted(0, 1000.0, late(1000.0, 0), late(1000.0, 0)).is_empty());
        assert_eq!(doubted(0, 1001.0, late(0.0, 0), late(0.0, 0)).len(), 1);
        assert!(doubted(0, 0.0, late(1001.0, 0), late(0.0, 0))[0].starts_with("up: 1 % of packets"));
        assert!(doubted(0, 0.0, late(0.0, 0), late(0.0, 3))[0].starts_with("down: the kernel dropped 3"));
        assert!(
            doubted(100_000_000, 5000.0, late(5000.0, 0), late(0.0, 0)).is_empty(),
            "5 % of the RTT"
        );
    }
}
