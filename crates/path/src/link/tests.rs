// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One test a rule of the link, then what must hold for any traffic.

use proptest::prelude::*;
use Class::{BestEffort, LowerEffort};

use super::*;

const MS: Nanos = 1_000_000;

fn spec() -> LinkSpec {
    // 12 Mbit/s: a packet of 1500 bytes is served in 1 ms.
    LinkSpec {
        rate: Some(12_000_000),
        delay: 10 * MS,
        limit: Limit::Packets(4),
        loss: 0.0,
        priority: false,
        seed: 1,
    }
}

fn offer(link: &mut Link<u32>, now: Nanos, class: Class, name: u32) -> Vec<u32> {
    let mut dropped = Vec::new();
    link.offer(now, class, 1500, name, &mut dropped);
    dropped
}

fn deliveries(link: &mut Link<u32>) -> Vec<(u32, Nanos)> {
    std::iter::from_fn(|| link.deliver(Nanos::MAX))
        .map(|d| (d.payload, d.due))
        .collect()
}

#[test]
fn a_lone_packet_takes_its_service_time_and_the_delay() {
    let mut link = Link::new(spec());
    offer(&mut link, 5 * MS, BestEffort, 1);
    assert_eq!(link.next_due(), Some(16 * MS));
    assert_eq!(link.deliver(16 * MS - 1), None);
    let delivery = link.deliver(16 * MS).expect("it is due");
    assert_eq!((delivery.due, delivery.queued), (16 * MS, MS));
    assert_eq!(link.next_due(), None);
}

#[test]
fn packets_that_wait_leave_back_to_back_however_late_one_looks() {
    let mut link = Link::new(spec());
    for name in 0..3 {
        offer(&mut link, 0, BestEffort, name);
    }
    assert_eq!(deliveries(&mut link), [(0, 11 * MS), (1, 12 * MS), (2, 13 * MS)]);
}

#[test]
fn service_times_do_not_drift() {
    // 1500 bytes at 7 Mbit/s are 1714285.714... ns; seven of them are 12 ms exactly.
    let mut link = Link::new(LinkSpec {
        rate: Some(7_000_000),
        delay: 0,
        limit: Limit::Packets(100),
        ..spec()
    });
    for name in 0..7 {
        offer(&mut link, 0, BestEffort, name);
    }
    assert_eq!(deliveries(&mut link).last(), Some(&(6, 12 * MS)));
}

#[test]
fn without_a_rate_there_is_only_delay() {
    let mut link = Link::new(LinkSpec { rate: None, ..spec() });
    for name in 0..100 {
        assert!(offer(&mut link, 3, BestEffort, name).is_empty());
    }
    assert!(deliveries(&mut link).iter().all(|&(_, due)| due == 3 + 10 * MS));
}

#[test]
fn a_full_queue_drops_what_arrives_and_counts_the_packet_in_service() {
    let mut link = Link::new(spec());
    for name in 0..4 {
        assert!(offer(&mut link, 0, BestEffort, name).is_empty());
    }
    assert_eq!(offer(&mut link, 0, BestEffort, 4), [4]);
    assert_eq!(
        link.queued(),
        Volume {
            packets: 4,
            bytes: 6000
        }
    );
    assert!(offer(&mut link, MS, BestEffort, 5).is_empty(), "one has left by then");
    assert_eq!(
        link.counters(BestEffort).dropped_full,
        Volume {
            packets: 1,
            bytes: 1500
        }
    );
}

#[test]
fn a_queue_in_bytes_bounds_the_time_in_it() {
    let mut link = Link::new(LinkSpec {
        limit: Limit::Bytes(4500),
        ..spec()
    });
    for name in 0..10 {
        offer(&mut link, 0, BestEffort, name);
    }
    let longest = std::iter::from_fn(|| link.deliver(Nanos::MAX)).map(|d| d.queued).max();
    assert_eq!(longest, Some(3 * MS));
}

#[test]
fn an_empty_queue_takes_one_packet_of_any_size() {
    let mut link = Link::new(LinkSpec {
        limit: Limit::Bytes(100),
        ..spec()
    });
    assert!(offer(&mut link, 0, BestEffort, 1).is_empty());
    assert_eq!(offer(&mut link, 0, BestEffort, 2), [2]);
}

#[test]
fn without_priority_classes_share_one_queue_in_order() {
    let mut link = Link::new(spec());
    offer(&mut link, 0, LowerEffort, 1);
    offer(&mut link, 0, LowerEffort, 2);
    offer(&mut link, 0, BestEffort, 3);
    assert_eq!(deliveries(&mut link).iter().map(|d| d.0).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn priority_serves_lower_effort_last_but_never_interrupts_it() {
    let mut link = Link::new(LinkSpec {
        priority: true,
        ..spec()
    });
    offer(&mut link, 0, LowerEffort, 1);
    offer(&mut link, 0, LowerEffort, 2);
    offer(&mut link, MS / 2, BestEffort, 3);
    assert_eq!(deliveries(&mut link), [(1, 11 * MS), (3, 12 * MS), (2, 13 * MS)]);
}

#[test]
fn the_choice_is_made_when_service_starts_even_if_one_looks_later() {
    let mut link = Link::new(LinkSpec {
        priority: true,
        ..spec()
    });
    offer(&mut link, 0, LowerEffort, 1);
    offer(&mut link, 0, LowerEffort, 2);
    // Packet 2 started at 1 ms, before 3 arrived.
    offer(&mut link, MS + MS / 2, BestEffort, 3);
    assert_eq!(deliveries(&mut link), [(1, 11 * MS), (2, 12 * MS), (3, 13 * MS)]);
}

#[test]
fn a_full_buffer_drops_the_tail_of_lower_effort_for_best_effort() {
    let mut link = Link::new(LinkSpec {
        priority: true,
        ..spec()
    });
    for name in 0..4 {
        offer(&mut link, 0, LowerEffort, name);
    }
    assert_eq!(offer(&mut link, 0, LowerEffort, 4), [4]);
    assert_eq!(offer(&mut link, 0, BestEffort, 5), [3]);
    assert_eq!(offer(&mut link, 0, BestEffort, 6), [2]);
    assert_eq!(offer(&mut link, 0, BestEffort, 7), [1]);
    assert_eq!(
        offer(&mut link, 0, BestEffort, 8),
        [8],
        "packet 0 is in service and stays"
    );
    assert_eq!(link.counters(LowerEffort).dropped_full.packets, 4);
    assert_eq!(link.counters(BestEffort).dropped_full.packets, 1);
}

#[test]
fn nothing_is_pushed_out_for_a_packet_that_would_not_fit_anyway() {
    let mut link = Link::new(LinkSpec {
        priority: true,
        limit: Limit::Bytes(3000),
        ..spec()
    });
    let mut dropped = Vec::new();
    link.offer(0, BestEffort, 1000, 0, &mut dropped);
    link.offer(0, BestEffort, 1000, 1, &mut dropped);
    link.offer(0, LowerEffort, 500, 2, &mut dropped);
    link.offer(0, BestEffort, 1500, 3, &mut dropped);
    assert_eq!(dropped, [3]);
    link.offer(0, BestEffort, 1000, 4, &mut dropped);
    assert_eq!(dropped, [3, 2]);
}

#[test]
fn losses_follow_the_seed_and_the_probability() {
    let lost = |seed| {
        let mut link = Link::new(LinkSpec {
            loss: 0.02,
            seed,
            rate: None,
            ..spec()
        });
        (0..100_000)
            .filter(|&name| !offer(&mut link, 0, BestEffort, name).is_empty())
            .collect::<Vec<_>>()
    };
    assert_eq!(lost(7), lost(7));
    assert_ne!(lost(7), lost(8));
    // Five standard deviations of a binomial(100000, 0.02) are 221.
    assert!((1779..=2221).contains(&lost(7).len()), "{} lost", lost(7).len());
}

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
    (rate, 0u64..100_000_000, limit, loss, any::<bool>(), any::<u64>()).prop_map(
        |(rate, delay, limit, loss, priority, seed)| LinkSpec {
            rate,
            delay,
            limit,
            loss,
            priority,
            seed,
        },
    )
}

/// Sends the traffic through; the payload is the arrival's number. Looks at the link in between when `nosy`.
fn run(spec: &LinkSpec, traffic: &[Arrival], nosy: bool) -> (Link<usize>, Vec<Delivery<usize>>, Vec<usize>) {
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
