// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What must hold for any traffic.

use super::*;
use proptest::prelude::*;

/// One arrival: time since the one before, class, bytes.
type Arrival = (Nanos, Class, u32);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let class = prop_oneof![Just(Class::BestEffort), Just(Class::LowerEffort)];
    prop::collection::vec((0u64..3_000_000, class, 20u32..=1500), 1..200)
}

fn specs() -> impl Strategy<Value = LinkSpec> {
    let rate = prop_oneof![Just(None), (10_000u64..1_000_000_000).prop_map(Some)];
    let limit = prop_oneof![
        (1u64..50).prop_map(Limit::Packets),
        (1500u64..60_000).prop_map(Limit::Bytes)
    ];
    let loss = prop_oneof![Just(0.0), 0.0..=1.0];
    (
        rate,
        0u64..100_000_000,
        limit,
        loss,
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(|(rate, delay, limit, loss, priority, seed)| LinkSpec {
            rate,
            delay,
            limit,
            loss,
            priority,
            seed,
        })
}

/// Sends the traffic through; the payload is the arrival's number. Looks at the link in between when `nosy`.
fn run(
    spec: &LinkSpec,
    traffic: &[Arrival],
    nosy: bool,
) -> (Link<usize>, Vec<Delivery<usize>>, Vec<usize>) {
    let mut link = Link::new(spec.clone());
    let (mut now, mut delivered, mut dropped) = (0, Vec::new(), Vec::new());
    for (number, &(gap, class, bytes)) in traffic.iter().enumerate() {
        if nosy {
            delivered.extend(std::iter::from_fn(|| link.deliver(now + gap / 2)));
        }
        now += gap;
        link.offer(now, class, bytes, number, &mut dropped);
    }
    delivered.extend(std::iter::from_fn(|| link.deliver(Nanos::MAX)));
    (link, delivered, dropped)
}

fn times(traffic: &[Arrival]) -> Vec<Nanos> {
    traffic
        .iter()
        .scan(0, |now, arrival| {
            *now += arrival.0;
            Some(*now)
        })
        .collect()
}

proptest! {
    #[test]
    fn every_packet_is_delivered_or_dropped_once(spec in specs(), traffic in arrivals()) {
        let (link, delivered, dropped) = run(&spec, &traffic, true);
        let mut seen: Vec<_> = delivered.iter().map(|d| d.payload).chain(dropped).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..traffic.len()).collect::<Vec<_>>());
        prop_assert_eq!(link.inside(), 0);
        for class in Class::ALL {
            let c = link.counters(class);
            prop_assert_eq!(c.arrived.packets, c.served.packets + c.dropped_full.packets + c.dropped_loss.packets);
            prop_assert_eq!(c.arrived.bytes, c.served.bytes + c.dropped_full.bytes + c.dropped_loss.bytes);
        }
    }

    #[test]
    fn looking_changes_nothing(spec in specs(), traffic in arrivals()) {
        prop_assert_eq!(run(&spec, &traffic, true).1, run(&spec, &traffic, false).1);
    }

    #[test]
    fn order_is_kept_within_a_class_and_without_priority(spec in specs(), traffic in arrivals()) {
        let (_, delivered, _) = run(&spec, &traffic, false);
        for pair in delivered.windows(2) {
            prop_assert!(pair[0].due <= pair[1].due);
            prop_assert!(spec.priority || pair[0].payload < pair[1].payload);
        }
        for class in Class::ALL {
            let of_class: Vec<_> = delivered.iter().filter(|d| d.class == class).map(|d| d.payload).collect();
            prop_assert!(of_class.is_sorted());
        }
    }

    #[test]
    fn departures_are_the_formula(spec in specs(), traffic in arrivals()) {
        // Exact rational arithmetic in units of 1/rate ns, in the order of delivery.
        let Some(rate) = spec.rate else { return Ok(()) };
        let rate = u128::from(rate);
        let (_, delivered, _) = run(&spec, &traffic, false);
        let mut last = 0;
        for d in &delivered {
            let arrival = u128::from(d.due - spec.delay - d.queued) * rate;
            // A busy period that ended inside a nanosecond counts as over at its start.
            let start = if arrival >= last / rate * rate { arrival } else { last };
            last = start + u128::from(d.bytes) * 8_000_000_000;
            prop_assert_eq!(u128::from(d.due - spec.delay), last / rate);
        }
    }

    #[test]
    fn the_limit_is_never_passed(spec in specs(), traffic in arrivals()) {
        let mut link = Link::new(spec.clone());
        let mut now = 0;
        for &(gap, class, bytes) in &traffic {
            now += gap;
            link.offer(now, class, bytes, (), &mut Vec::new());
            let queued = link.queued();
            let within = match spec.limit {
                Limit::Packets(most) => queued.packets <= most,
                Limit::Bytes(most) => queued.bytes <= most,
            };
            prop_assert!(within || queued.packets == 1);
        }
    }

    #[test]
    fn best_effort_waits_for_at_most_one_lower_effort_packet(spec in specs(), traffic in arrivals()) {
        let spec = LinkSpec { priority: true, loss: 0.0, limit: Limit::Packets(1000), ..spec };
        let (_, both, _) = run(&spec, &traffic, false);
        let times = times(&traffic);
        for d in both.iter().filter(|d| d.class == Class::BestEffort) {
            let departure = d.due - spec.delay;
            let overtaken = both.iter().filter(|o| {
                // Lower effort that ended its service while the packet was there.
                let end = o.due - spec.delay;
                o.class == Class::LowerEffort && end > times[d.payload] && end < departure
            });
            prop_assert!(overtaken.count() <= 1);
        }
    }
}
