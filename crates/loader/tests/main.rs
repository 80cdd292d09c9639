// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The cores as eBPF come to the same windows as the host build of the same files.
//!
//! The verifier's budget: the instructions that this kernel's verifier processed for each program. They are held against
//! the file of the kernel in tests/verifier/. A program that costs a tenth more fails: find the reason. Both need root.
//!
//! `NETNICE_PIN=1 cargo test --release -p netnice-loader verifier` writes the numbers of this kernel anew.

use std::collections::BTreeMap;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::{fs, slice};

use libbpf_rs::{MapType, Object, ObjectBuilder, OpenObject, Program, ProgramInput};
use netnice_cores::{recorded, Algorithm, Replay, Replayed};

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/replay.bpf.o"));
const STEPS: usize = 5_000;

fn bytes(step: &mut Replay) -> &mut [u8] {
    // SAFETY: a plain C structure; its padding is not read.
    unsafe { slice::from_raw_parts_mut((step as *mut Replay).cast(), size_of::<Replay>()) }
}

#[test]
fn ebpf_and_host_come_to_the_same_windows() {
    let object = ObjectBuilder::default()
        .open_memory(OBJECT)
        .and_then(|open| open.load())
        .expect("load the replay program: this test needs root and a kernel with eBPF");
    for algorithm in Algorithm::ALL {
        let program = object.progs_mut().nth(algorithm as usize).expect("a program a row");
        let mut replayed = Replayed::new(algorithm);
        for (number, step) in recorded(algorithm, 7, STEPS).into_iter().enumerate() {
            let (mut host, mut ebpf) = (step, step);
            replayed.replay(&mut host);
            let input = ProgramInput {
                context_in: Some(bytes(&mut ebpf)),
                ..Default::default()
            };
            let ran = program.test_run(input).expect("run the program");
            assert_eq!(ran.return_value, 0);
            assert_eq!(host, ebpf, "{algorithm:?}, step {number}: {step:?}");
        }
    }
}

const SENDER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sender.bpf.o"));
/// Each loaded as it is: the receivers of a level's cgroup, and which processes and cgroups yield.
const OTHERS: [(&str, &[u8]); 4] = [
    ("receiver", include_bytes!(concat!(env!("OUT_DIR"), "/receiver.bpf.o"))),
    ("policy", include_bytes!(concat!(env!("OUT_DIR"), "/policy.bpf.o"))),
    ("quic", include_bytes!(concat!(env!("OUT_DIR"), "/quic.bpf.o"))),
    ("niceness", include_bytes!(concat!(env!("OUT_DIR"), "/niceness.bpf.o"))),
];
const MOST_PERCENT: u32 = 110;

/// A program's name, and the instructions that the verifier processed for it.
type Budget = BTreeMap<String, u32>;

#[test]
fn programs_stay_within_the_verifiers_budget() {
    let mut found = budget(&load_every_algorithm());
    for (name, code) in OTHERS {
        found.extend(budget(&load(name, code)));
    }
    let file = file_of_this_kernel();
    if std::env::var_os("NETNICE_PIN").is_some() {
        let text = serde_json::to_string_pretty(&found).expect("numbers");
        fs::write(&file, text + "\n").expect("write the pins");
    }
    let text = fs::read_to_string(&file).unwrap_or_else(|error| {
        panic!(
            "no numbers for this kernel ({}: {error}): write them by NETNICE_PIN=1, look, and commit",
            file.display()
        )
    });
    let pinned: Budget = serde_json::from_str(&text).expect("names and numbers");
    let names = |budget: &Budget| budget.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&pinned), "programs came or went: NETNICE_PIN=1");
    let over: Vec<String> = found
        .iter()
        .filter(|(name, cost)| **cost > pinned[*name] * MOST_PERCENT / 100)
        .map(|(name, cost)| format!("{name}: {cost}, {} pinned", pinned[name]))
        .collect();
    assert!(
        over.is_empty(),
        "the verifier processes over a tenth more instructions: find out why, or NETNICE_PIN=1: {over:?}"
    );
}

/// One object with all congestion controls, of this kernel's arguments of cong_control.
fn load_every_algorithm() -> Object {
    let mut open = ObjectBuilder::default()
        .open_memory(SENDER)
        .expect("open the sender object");
    assert_eq!(choose_current(&mut open), netnice_loader::settings::ALGORITHMS.len());
    open.load()
        .expect("load every algorithm: needs root and Linux 6.10 or newer")
}

fn load(name: &str, code: &[u8]) -> Object {
    let mut open = ObjectBuilder::default();
    let open = open.open_memory(code).expect("open an object");
    open.load()
        .unwrap_or_else(|error| panic!("load the object '{name}', which needs root: {error}"))
}

/// Leaves out the structs for kernels before 6.10; how many are left.
fn choose_current(open: &mut OpenObject) -> usize {
    let mut algorithms = 0;
    for mut map in open.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
        let current = !map.name().to_string_lossy().ends_with("_v1");
        map.set_autocreate(current).expect("choose the map");
        algorithms += usize::from(current);
    }
    algorithms
}

fn budget(object: &Object) -> Budget {
    object
        .progs()
        .filter(|program| program.as_fd().as_raw_fd() > 0) // those of maps left out are not loaded
        .map(|program| (program.name().to_string_lossy().into_owned(), verified(&program)))
        .collect()
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

/// tests/verifier/6.18.json where Linux 6.18.44 runs. NETNICE_VERIFIER names another folder: tests/kernels' machines have
/// no tree.
fn file_of_this_kernel() -> PathBuf {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("Linux tells");
    let version = release.split('.').take(2).collect::<Vec<_>>().join(".");
    let here = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/verifier");
    std::env::var_os("NETNICE_VERIFIER")
        .map_or_else(here, PathBuf::from)
        .join(format!("{version}.json"))
}
