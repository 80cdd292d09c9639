// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Rates, levels and queues of what was seen twice.

use std::time::Duration;

use super::*;

fn flow(port: u16, cc: &str, sent: u64) -> Flow {
    Flow {
        local: SocketAddr::from(([127, 0, 0, 1], port)),
        peer: SocketAddr::from(([127, 0, 0, 1], 80)),
        state: "established",
        congestion_control: cc.to_owned(),
        inode: port.into(),
        window: 14_480,
        rtt_us: 25_000,
        base_us: 20_000,
        base_is_doubtful: false,
        sent,
        received: 0,
        dscp: 0,
        segment: 1448,
        receive_scale: 7,
        pending: false,
        timeouts: 0,
    }
}

fn traffic() -> Traffic {
    let at = Instant::now();
    let owner = |pid, program: &str, level| Owner {
        pid,
        program: program.to_owned(),
        unit: "backup.service".to_owned(),
        level,
    };
    let look = |at, flows| Look {
        at,
        flows,
        owners: HashMap::from([(1, owner(7, "rsync", None)), (2, owner(8, "curl", Some(2)))]),
        receiving: HashMap::new(),
    };
    let before = look(at, vec![flow(1, "netnice1", 1000), flow(2, "cubic", 0)]);
    let later = vec![flow(1, "netnice1", 3000), flow(2, "cubic", 500), flow(3, "cubic", 9)];
    Traffic::between(&before, &look(at + Duration::from_secs(2), later))
}

#[test]
fn rates_and_levels() {
    let traffic = traffic();
    let seen: Vec<_> = traffic
        .connections
        .iter()
        .map(|row| (row.level, row.out_bps, row.queue_us))
        .collect();
    let queue = Some(5000);
    assert_eq!(seen, [(Some(1), 8000, queue), (Some(2), 2000, queue), (None, 0, queue)]);
    assert_eq!(traffic.units["backup.service"].out_bps, 10_000);
}

/// The kernel's round trips are of what is sent.
#[test]
fn the_queue_of_a_download_is_as_the_receiver_has_it() {
    let at = Instant::now();
    let download = |received| Flow {
        received,
        ..flow(1, "cubic", 100)
    };
    let look = |at, received, queue_us| Look {
        at,
        flows: vec![download(received)],
        owners: HashMap::new(),
        receiving: HashMap::from([(1, Receiving { yields: true, queue_us })]),
    };
    for queue in [Some(25_000), None] {
        for received in [9000, 5000] {
            let later = look(at + Duration::from_secs(1), received, queue);
            let traffic = Traffic::between(&look(at, 5000, None), &later);
            assert_eq!(traffic.connections[0].queue_us, queue, "also while nothing comes");
            let shown = if queue.is_some() { "25.0ms" } else { "-" };
            let line = traffic.to_string();
            let line: Vec<_> = line.lines().nth(1).expect("a line").split_whitespace().collect();
            assert_eq!(line[7], shown);
        }
    }
}

/// Of the whole round trip, which is all that is known, a reader would take the wrong thing to be a queue.
#[test]
fn a_doubtful_base_has_no_queue() {
    let at = Instant::now();
    let look = |at| Look {
        at,
        flows: vec![Flow {
            base_is_doubtful: true,
            ..flow(1, "netnice", 100)
        }],
        owners: HashMap::new(),
        receiving: HashMap::new(),
    };
    let traffic = Traffic::between(&look(at), &look(at + Duration::from_secs(1)));
    assert_eq!(traffic.connections[0].queue_us, None);
}

#[test]
fn chosen_and_sorted() {
    let mut traffic = traffic();
    traffic.keep(|row| row.level.is_some() && row.mentions("CUBIC"));
    assert_eq!(traffic.connections.len(), 1);
    assert_eq!(traffic.units["backup.service"].connections, 1);
    let mut traffic = self::traffic();
    traffic.sort(Column::Out);
    let ports: Vec<u16> = traffic.connections.iter().map(|r| r.flow.local.port()).collect();
    assert_eq!(ports, [1, 2, 3]);
}

#[test]
fn a_number_of_a_socket_that_is_another_now() {
    let mut traffic = traffic();
    traffic.keep(|row| row.pid.is_none());
    assert_eq!(traffic.connections[0].out_bps, 0, "it was not there before");
}

#[test]
fn what_cannot_be_mended_is_named() {
    let mut traffic = traffic();
    assert!(!traffic.to_string().contains("netnice --no-mark"));
    for row in &mut traffic.connections {
        (row.flow.dscp, row.flow.timeouts, row.flow.receive_scale) = (1, 3, 14);
    }
    let text = traffic.to_string();
    assert_eq!(
        text.matches("netnice --no-mark").count(),
        2,
        "of those in the background"
    );
    assert_eq!(text.matches("its window scale is 14").count(), 2);
    assert!(text.contains(" LE "));
    traffic.connections[0].flow.sent = 1 << 20;
    assert_eq!(
        traffic.to_string().matches("its window scale is 14").count(),
        1,
        "not of an upload"
    );
    traffic.connections.iter_mut().for_each(|row| row.flow.dscp = 10);
    assert!(
        !traffic.to_string().contains("netnice --no-mark"),
        "another mark is its own"
    );
}

#[test]
fn numbers_with_units() {
    assert_eq!(bits(999), "999bit/s");
    assert_eq!(bits(1_250_000), "1.2Mb/s");
    assert_eq!(bits(123_400_000_000_000), "123400Gb/s");
    assert_eq!(milliseconds(20_149), "20.1ms");
}

#[test]
fn columns_and_sums() {
    let text = traffic().to_string();
    let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(lines[1][..5], ["1", "7", "rsync", "8.0kb/s", "0bit/s"]);
    assert_eq!(lines[1][5..8], ["14.1KiB", "25.0ms", "5.0ms"]);
    assert_eq!(lines[3][..3], ["-", "-", "-"]);
    assert_eq!(
        lines.last().expect("sums"),
        &["2", "10.0kb/s", "0bit/s", "backup.service"]
    );
}

#[test]
fn how_they_are_written() {
    for text in [
        ":443",
        "192.0.2.1:443",
        "[2001:db8::1]:443",
        "192.0.2.1:1-192.0.2.2:2",
        ":1-:2",
    ] {
        assert!(text.parse::<FlowFilter>().is_ok(), "{text}");
    }
    for text in ["443", "cron.service", "a:b", ":", ":70000", "docker-3f.scope", ""] {
        assert!(text.parse::<FlowFilter>().is_err(), "{text}");
    }
}

#[test]
fn a_mapped_address_is_the_one_that_people_write() {
    let end: End = "192.0.2.1:443".parse().expect("valid");
    assert!(end.is("[::ffff:192.0.2.1]:443".parse().expect("valid")));
    assert!(!end.is("192.0.2.1:80".parse().expect("valid")));
}
