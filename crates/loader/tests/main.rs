// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The cores as eBPF come to the same windows as the host build of the same files. What the verifier makes of each
//! program is in a file of its own. Needs root.

mod verifier;

use std::mem::size_of;
use std::slice;

use libbpf_rs::{ObjectBuilder, ProgramInput};
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
