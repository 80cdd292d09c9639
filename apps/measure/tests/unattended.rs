// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A run by itself: it ends when it is enough, goes on after whatever ended it, and says what is wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::{said, Bench, Running, RATE};
use netnice_measure::results::{Measurement, Record};

fn measurements(bench: &Bench) -> Vec<Measurement> {
    let measured = |record| match record {
        Record::Measurement(measurement) => Some(measurement),
        _ => None,
    };
    bench.records().into_iter().filter_map(measured).collect()
}

#[test]
fn both_directions_are_measured_until_it_is_enough() {
    let bench = Bench::new();
    let server = bench.serve(0, &["--rate", RATE]);
    // more than one measurement can move at this rate (3 MB in the six times 200 ms that end it), so that both are done
    for (direction, bytes) in [("up", "8MB"), ("down", "16MB")] {
        let ended = bench
            .client(server.port, &["--direction", direction, "--bytes", bytes])
            .output()
            .expect("run");
        assert!(ended.status.success(), "{}", said(&ended));
    }
    let measurements = measurements(&bench);
    let of = |direction: &str, action: &str| {
        let found = measurements
            .iter()
            .find(|m| m.direction.to_string() == direction && m.action.to_string() == action);
        found.unwrap_or_else(|| panic!("no {direction} {action}")).clone()
    };
    for direction in ["up", "down"] {
        let (alone, beside) = (of(direction, "reno/none"), of(direction, "reno/reno2"));
        assert!((5.0..30.0).contains(&alone.primary_mbit()), "{alone:?}");
        assert_eq!(alone.beside_bytes, 0);
        assert!(beside.beside_bytes > 0, "{beside:?}");
        assert!(beside.seconds > alone.seconds, "{alone:?} {beside:?}");
        let call = beside.call.expect("a call");
        assert!(call.sent > 5 && call.lost < call.sent, "{call:?}");
    }
}

#[test]
fn a_restart_goes_on_and_loses_nothing() {
    let bench = Bench::new();
    let server = bench.serve(0, &["--rate", RATE]);
    let mut seen = 0;
    for (signal, status) in [(libc::SIGKILL, None), (libc::SIGTERM, Some(3)), (libc::SIGINT, Some(3))] {
        let run = Running::new(bench.client(server.port, &[]));
        if seen > 0 {
            let line = run.line("going on after");
            assert!(line.contains(&format!("after {seen} measurements")), "{line}");
        }
        run.line(&format!("{}: reno/", seen + 1));
        run.line(&format!("{}: reno/", seen + 2));
        assert_eq!(run.end(signal), status);
        let now = measurements(&bench);
        assert!(now.len() >= seen + 2);
        seen = now.len();
    }
    let elapsed: Vec<f64> = measurements(&bench).iter().map(|m| m.elapsed_s).collect();
    assert!(elapsed.is_sorted(), "{elapsed:?}");
}

#[test]
fn results_that_were_cut_off_are_mended() {
    let bench = Bench::new();
    let server = bench.serve(0, &["--rate", RATE]);
    let run = |bench: &Bench| bench.client(server.port, &["--bytes", "1"]).output().expect("run");
    assert!(run(&bench).status.success());
    let whole = fs::read(bench.results()).expect("results");
    fs::write(bench.results(), &whole[..whole.len() - 20]).expect("written");
    let again = run(&bench);
    assert!(said(&again).contains("the last record was cut off"), "{}", said(&again));
    assert_eq!(measurements(&bench).len(), 1);
}

#[test]
fn a_server_that_vanishes_comes_back() {
    let bench = Bench::new();
    let server = bench.serve(0, &["--rate", RATE]);
    let port = server.port;
    let run = Running::new(bench.client(port, &[]));
    run.line("1: reno/");
    server.end(libc::SIGKILL);
    let line = run.line("trying again in 5 s");
    assert!(line.contains("127.0.0.1"), "{line}");
    let _server = bench.serve(port, &["--rate", RATE]);
    run.line("reno/");
    run.end(libc::SIGTERM);
    let failed = bench
        .records()
        .into_iter()
        .any(|record| matches!(record, Record::Failure(_)));
    assert!(failed, "and the results tell");
}

#[test]
fn a_wrong_token_is_said_at_once() {
    let (bench, other) = (Bench::new(), Bench::new());
    let server = bench.serve(0, &[]);
    let refused = other.client(server.port, &[]).output().expect("run");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        said(&refused).contains("the server has another token; copy"),
        "{}",
        said(&refused)
    );
    server.line("connections refused: 1 another token");
}

#[test]
fn what_this_machine_lacks_is_said_at_once() {
    let bench = Bench::new();
    let lacking = bench
        .client(1, &["--actions", "reno/nosuchthing"])
        .output()
        .expect("run");
    assert_eq!(lacking.status.code(), Some(1));
    assert!(
        said(&lacking).contains("no congestion control 'nosuchthing'"),
        "{}",
        said(&lacking)
    );

    fs::set_permissions(bench.token(), PermissionsExt::from_mode(0o644)).expect("permitted");
    let shared = bench.client(1, &[]).output().expect("run");
    assert!(said(&shared).contains("chmod 600"), "{}", said(&shared));
}

#[test]
fn two_runs_do_not_share_results() {
    let bench = Bench::new();
    let server = bench.serve(0, &["--rate", RATE]);
    let run = Running::new(bench.client(server.port, &[]));
    run.line("1: reno/");
    let second = bench.client(server.port, &[]).output().expect("run");
    assert_eq!(second.status.code(), Some(1));
    assert!(
        said(&second).contains("another netnice-measure writes to"),
        "{}",
        said(&second)
    );
}

#[test]
fn the_servers_limits_hold() {
    let bench = Bench::new();
    let server = bench.serve(0, &["--rate", RATE, "--transfer", "100kB", "--daily", "1MB"]);
    let run = Running::new(bench.client(server.port, &["--direction", "down"]));
    run.line("moved what --daily allows");
    run.end(libc::SIGTERM);
    let measurements = measurements(&bench);
    assert!(measurements.iter().all(|m| m.bytes <= 100_000));
    let bytes: u64 = measurements.iter().map(|m| m.bytes + m.beside_bytes).sum();
    assert!((1..=1_000_000).contains(&bytes), "{measurements:#?}");
}
