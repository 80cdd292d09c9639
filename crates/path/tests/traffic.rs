// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What traffic sees of a path. Needs root.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::{echo, in_new_namespace, quantile, receive, round_trips, send, Arrival, Path, BINARY, FULL, LE};

/// How much later than the model the kernel's work and a shared machine's may make a packet, ms.
const SLACK_MS: f64 = 2.0;

fn delays_ms(arrivals: &[Arrival], marked: bool) -> Vec<f64> {
    arrivals
        .iter()
        .filter(|a| a.marked == marked)
        .map(|a| a.delay as f64 / 1e6)
        .collect()
}

#[test]
fn round_trips_through_two_nested_paths_take_the_sum() {
    in_new_namespace(|| {
        let path = Path::start(&format!("--rtt 20ms -- {BINARY} --quiet --rtt 30ms"));
        // The first path of a namespace has the first addresses.
        for outermost in ["100.64.0.1", "fd6e:6e70:6174::6440:1"] {
            echo(outermost);
            let times = path.inside(move || round_trips(outermost, 21)).join().expect("answers");
            assert!(times[0] >= 50.0, "to {outermost}: at least {} ms", times[0]);
            assert!(
                times[10] <= 50.0 + SLACK_MS,
                "to {outermost}: half took {} ms or more",
                times[10]
            );
        }
    });
}

#[test]
fn udp_gets_the_rate_within_one_percent() {
    in_new_namespace(|| {
        let path = Path::start("--rate 20mbit --rtt 10ms --queue 50p");
        let (receiver, peer) = (receive(), path.peer);
        path.inside(move || send(peer, 0, FULL, 3000, Duration::from_secs(3)))
            .join()
            .expect("sent");
        let arrivals = receiver.join().expect("received");
        let (first, last) = (arrivals[0], arrivals[arrivals.len() - 1]);
        let bits: usize = arrivals[1..].iter().map(|a| a.bytes * 8).sum();
        let rate = bits as f64 * 1e9 / (last.at - first.at) as f64;
        assert!((rate / 20e6 - 1.0).abs() < 0.01, "{rate} bit/s");
    });
}

#[test]
fn tcp_gets_the_rate_of_each_direction() {
    in_new_namespace(|| {
        let path = Path::start("--up-rate 20mbit --down-rate 50mbit --rtt 10ms --queue 2bdp");
        let peer = path.peer;
        // Of 1500 bytes, 1448 are payload; TCP fills a queue of 2 BDP but loses some at the start.
        for (upload, rate) in [(true, 20e6), (false, 50e6)] {
            let listener = TcpListener::bind(("0.0.0.0", 7001)).expect("a free port");
            let outside = thread::spawn(move || blast(listener.accept().expect("a connection").0, !upload));
            let inside = path.inside(move || blast(TcpStream::connect((peer, 7001)).expect("connected"), upload));
            let (inside, outside) = (inside.join().expect("inside"), outside.join().expect("outside"));
            let goodput = if upload { outside } else { inside };
            let part = goodput / (rate * 1448.0 / 1500.0);
            assert!(
                (0.9..1.01).contains(&part),
                "upload {upload}: {goodput} bit/s is {part} of what can be"
            );
        }
    });
}

/// Sends for two seconds, or receives; the goodput received in bits a second.
fn blast(mut stream: TcpStream, sending: bool) -> f64 {
    let (begin, mut buffer, mut received) = (Instant::now(), vec![0; 65536], 0);
    if sending {
        while begin.elapsed() < Duration::from_secs(2) {
            stream.write_all(&buffer).expect("sending");
        }
        return 0.0;
    }
    while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
        received += bytes;
    }
    received as f64 * 8.0 / begin.elapsed().as_secs_f64()
}

#[test]
fn a_queue_of_one_bdp_delays_by_one_rtt_at_most() {
    in_new_namespace(|| {
        let path = Path::start("--rate 10mbit --rtt 40ms --queue 1bdp");
        let (receiver, peer) = (receive(), path.peer);
        path.inside(move || send(peer, 0, FULL, 1700, Duration::from_secs(2)))
            .join()
            .expect("sent");
        let delays = delays_ms(&receiver.join().expect("received"), false);
        // 20 ms of delay and up to 40 ms of queue, to the packet of 1.2 ms.
        assert!(
            quantile(delays.clone(), 0.99) <= 60.0 + SLACK_MS,
            "{:?}",
            quantile(delays, 0.99)
        );
        assert!(
            quantile(delays.clone(), 0.5) >= 58.8,
            "the queue fills: {}",
            quantile(delays, 0.5)
        );
        let report = path.stop();
        let longest = report["up"]["best_effort"]["queued"]["max_us"]
            .as_f64()
            .expect("a number");
        // The histogram has three digits.
        assert!((38_700.0..=40_040.0).contains(&longest), "{longest} us");
        assert!(report["up"]["best_effort"]["dropped_full"]["packets"].as_u64() > Some(1000));
    });
}

#[test]
fn the_loss_rate_is_what_was_asked() {
    in_new_namespace(|| {
        let path = Path::start("--loss 2% --seed 5 --rtt 2ms");
        let (receiver, peer) = (receive(), path.peer);
        let sent = path
            .inside(move || send(peer, 0, 100, 10_000, Duration::from_secs(2)))
            .join()
            .expect("sent");
        let lost = sent - receiver.join().expect("received").len() as u64;
        let (expected, deviation) = (sent as f64 * 0.02, (sent as f64 * 0.02 * 0.98).sqrt());
        assert!(
            (lost as f64 - expected).abs() < 5.0 * deviation,
            "{lost} of {sent} lost"
        );
        let report = path.stop();
        let packets = |what: &str| report["up"]["best_effort"][what]["packets"].as_u64();
        // Now and then the kernel says something of its own, which may be lost as well.
        let others = packets("arrived").expect("a number") - sent;
        let dropped = packets("dropped_loss").expect("a number");
        assert!(others < 10, "{others} packets are not ours");
        assert!(
            (lost..=lost + others).contains(&dropped),
            "{lost} lost, {dropped} told, {others} of others"
        );
    });
}

/// One-way delays of a few unmarked packets among too many marked ones, 99th percentile.
fn delay_among_lower_effort(options: &str) -> f64 {
    let path = Path::start(&format!("--rate 10mbit --rtt 40ms --queue 1bdp {options}"));
    let (receiver, peer) = (receive(), path.peer);
    let marked = path.inside(move || send(peer, LE, FULL, 1700, Duration::from_secs(2)));
    let unmarked = path
        .inside(move || send(peer, 0, FULL, 100, Duration::from_secs(2)))
        .join()
        .expect("sent");
    marked.join().expect("sent");
    let delays = delays_ms(&receiver.join().expect("received"), false);
    let report = path.stop();
    assert!(
        report["up"]["lower_effort"]["dropped_full"]["packets"].as_u64() > Some(500),
        "the queue was full"
    );
    if options.contains("--priority") {
        assert_eq!(delays.len() as u64, unmarked, "no unmarked packet is dropped");
    }
    quantile(delays, 0.99)
}

#[test]
fn with_priority_lower_effort_costs_the_others_one_packet_at_most() {
    in_new_namespace(|| {
        // 20 ms, the packet itself, and one that had already started.
        let delay = delay_among_lower_effort("--priority");
        assert!(delay <= 20.0 + 1.2 + 1.2 + SLACK_MS, "{delay} ms");
    });
}

#[test]
fn without_priority_lower_effort_delays_the_others() {
    in_new_namespace(|| {
        let delay = delay_among_lower_effort("");
        assert!(delay >= 55.0, "{delay} ms");
    });
}
