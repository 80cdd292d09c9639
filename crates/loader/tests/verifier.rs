// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The verifier's budget: what this kernel's verifier had to look at for each program, against the number pinned here.
//! A program that suddenly costs half as much again has a reason that somebody should know. Needs root.

use std::fs;
use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{MapType, ObjectBuilder, Program};

const SENDER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sender.bpf.o"));

/// Instructions that the verifier processed for each program on Linux 6.18, clang 16: of `netnice`, and of the one core
/// that `netnice1` and `netnice2` share. Their once-a-round decisions have many branches, each of which doubles the paths.
const PINNED: [(&str, u32, u32); 8] = [
    ("init", 1312, 1258),
    ("release", 97, 98),
    ("cong_control", 75553, 42647),
    ("state", 640, 243),
    ("event", 116, 118),
    ("ssthresh", 7, 7),
    ("undo_cwnd", 55, 56),
    ("min_tso_segs", 2, 2),
];
const LEVELS: [&str; 3] = ["netnice", "netnice1", "netnice2"];
const MOST_PERCENT: u32 = 150;

fn name(program: &Program<'_>) -> String {
    program.name().to_string_lossy().into_owned()
}

/// Instructions processed, as the kernel tells in the descriptor's fdinfo.
fn verified(program: &Program<'_>) -> u32 {
    let info = format!("/proc/self/fdinfo/{}", program.as_fd().as_raw_fd());
    let text = fs::read_to_string(info).expect("a loaded program has fdinfo");
    let line = text.lines().find_map(|l| l.strip_prefix("verified_insns:"));
    line.expect("Linux 5.16 and newer tell")
        .trim()
        .parse()
        .expect("a number")
}

#[test]
fn programs_stay_within_the_verifiers_budget() {
    let mut open = ObjectBuilder::default()
        .open_memory(SENDER)
        .expect("open the sender object");
    for mut map in open
        .maps_mut()
        .filter(|m| m.map_type() == MapType::StructOps)
    {
        let wanted = LEVELS.map(Some).contains(&map.name().to_str());
        map.set_autocreate(wanted).expect("choose the map");
    }
    let object = open
        .load()
        .expect("load the sender: this test needs root and a kernel with struct_ops");
    let costs: Vec<(String, u32)> = object
        .progs()
        .filter(|p| p.as_fd().as_raw_fd() > 0) // those of maps left out are not loaded
        .map(|p| (name(&p), verified(&p)))
        .collect();
    println!("{costs:?}");
    for (level, algorithm) in LEVELS.iter().enumerate() {
        for (operation, netnice, ladder) in PINNED {
            let pinned = if level == 0 { netnice } else { ladder };
            check(&costs, &format!("{algorithm}_{operation}"), pinned);
        }
    }
}

fn check(costs: &[(String, u32)], name: &str, pinned: u32) {
    let found = costs.iter().find(|(n, _)| n == name);
    let (_, cost) = found.unwrap_or_else(|| panic!("{name} is not loaded"));
    assert!(
        *cost <= pinned * MOST_PERCENT / 100,
        "{name}: the verifier processed {cost} instructions, {pinned} are pinned: find out why, or pin {cost}"
    );
}

#[test]
fn the_verifier_accepts_every_algorithm() {
    let mut open = ObjectBuilder::default()
        .open_memory(SENDER)
        .expect("open the sender object");
    let structs = open
        .maps_mut()
        .filter(|m| m.map_type() == MapType::StructOps);
    let mut algorithms = 0;
    for mut map in structs {
        let current = !map.name().to_string_lossy().ends_with("_v1");
        map.set_autocreate(current).expect("choose the map");
        algorithms += usize::from(current);
    }
    assert_eq!(algorithms, netnice_loader::params::ALGORITHMS.len());
    open.load()
        .expect("load every algorithm: needs root and Linux 6.10 or newer");
}
