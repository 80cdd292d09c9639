// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The report of a week: quick, and files that other programs read.

use std::fs;
use std::time::Duration;

use crate::{said, Bench};
use chrono::DateTime;
use netnice_measure::results::{Latency, Measurement, Record};

const RECORDS: usize = 20_000;
const QUICK: Duration = Duration::from_secs(5);
const ACTIONS: [(&str, f64, f64); 6] = [
    ("reno/none", 10.0, 0.0),
    ("netnice/none", 8.1, 0.0),
    ("reno/reno", 5.0, 4.9),
    ("reno/netnice", 9.8, 0.3),
    ("reno/reno8", 1.2, 8.5),
    ("reno/netnice8", 9.5, 0.5),
];

/// A week of measurements, with nights that are faster than days.
fn week(count: usize) -> String {
    let mut random = fastrand::Rng::with_seed(1);
    let begun = DateTime::parse_from_rfc3339("2026-05-11T00:00:00+02:00").expect("a time");
    let line = |n: usize| {
        let (action, primary, beside) = ACTIONS[n % ACTIONS.len()];
        let elapsed_s = n as f64 * 7.0 * 86_400.0 / count as f64;
        let night = 1.0 + 0.2 * (elapsed_s / 86_400.0 * std::f64::consts::TAU).cos();
        let bytes = |mbit: f64| (mbit * night * 1e7 / 8.0) as u64;
        let latency = Latency {
            sent: 500,
            lost: 1,
            p50_ms: 20.0,
            p95_ms: 25.0 + random.f64(),
            max_ms: 40.0,
        };
        let measurement = Measurement {
            at: begun + Duration::from_secs_f64(elapsed_s),
            elapsed_s,
            action: action.parse().expect("an action"),
            direction: netnice_measure::action::Direction::Up,
            bytes: bytes(primary + random.f64()),
            seconds: 10.0,
            beside_bytes: bytes(beside),
            cut: false,
            ended: 0,
            ping: Some(latency),
            call: Some(latency),
            clock_jump_s: None,
        };
        serde_json::to_string(&Record::Measurement(measurement)).expect("JSON") + "\n"
    };
    (0..count).map(line).collect()
}

/// Processor time of all children so far: others may use the machine too.
fn children() -> Duration {
    let time =
        |time: libc::timeval| Duration::new(time.tv_sec.unsigned_abs(), time.tv_usec.unsigned_abs() as u32 * 1000);
    // SAFETY: the kernel fills it in; all zeros are a valid value before.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

#[test]
fn a_week_takes_seconds() {
    let bench = Bench::new();
    fs::write(bench.results(), week(RECORDS)).expect("written");
    let folder = bench.folder.path().join("report");
    let report = bench
        .program()
        .arg("report")
        .arg(bench.results())
        .arg("--to")
        .arg(&folder)
        .output()
        .expect("run");
    let took = children();
    assert!(report.status.success(), "{}", said(&report));
    assert!(took < QUICK, "{took:?}");
    let text = String::from_utf8(report.stdout).expect("text");
    assert!(
        text.starts_with("Background uploads (netnice) cost the foreground "),
        "{text}"
    );

    let begins = |name: &str, magic: &[u8]| {
        let bytes = fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(bytes.starts_with(magic), "{name}");
        bytes
    };
    for name in ["bars-up.png", "hours-up.png"] {
        let pixels = begins(name, b"\x89PNG\r\n");
        assert!(pixels.len() > 5000, "an empty picture: {name}");
    }
    begins("results.parquet", b"PAR1");
    begins("reno-netnice8-up.flent.gz", &[0x1f, 0x8b]);
    let page = String::from_utf8(begins("report.html", b"<!DOCTYPE html>")).expect("text");
    assert_eq!(page.matches("<svg").count(), 2);
    assert!(page.contains("reno/netnice8") && page.contains("cost the foreground "));
    for outside in ["src=\"http", "href=\"http", "@import"] {
        assert!(!page.contains(outside), "the page needs {outside}");
    }
}

#[test]
fn damaged_results_are_told_and_the_rest_is_used() {
    let bench = Bench::new();
    let whole = week(60);
    fs::write(bench.results(), format!("garbage\n{}", &whole[..whole.len() - 30])).expect("written");
    let report = bench
        .program()
        .arg("report")
        .arg(bench.results())
        .output()
        .expect("run");
    assert!(report.status.success());
    let said = said(&report);
    assert!(
        said.contains("line 1 is no record") && said.contains("the last record was cut off"),
        "{said}"
    );
    assert!(String::from_utf8_lossy(&report.stdout).contains("| reno/netnice8 | up | 9 |"));
}

#[test]
fn nothing_to_report_is_said() {
    let bench = Bench::new();
    let missing = bench
        .program()
        .arg("report")
        .arg(bench.results())
        .output()
        .expect("run");
    assert_eq!(missing.status.code(), Some(1));
    assert!(said(&missing).contains("cannot read the results"), "{}", said(&missing));
    fs::write(bench.results(), "").expect("written");
    let empty = bench
        .program()
        .arg("report")
        .arg(bench.results())
        .output()
        .expect("run");
    assert!(said(&empty).contains("holds no measurement yet"), "{}", said(&empty));
}
