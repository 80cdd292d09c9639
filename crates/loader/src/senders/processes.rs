// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Processes by their parents, and by the words that they were started with.

use procfs::process::{all_processes, Process};

/// A process and all that it has started, as far as their parents live.
pub fn family(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let mut at = 0;
    while let Some(parent) = all.get(at).copied() {
        at += 1;
        let process = i32::try_from(parent).ok().and_then(|pid| Process::new(pid).ok());
        let tasks = process.and_then(|process| process.tasks().ok()).into_iter().flatten();
        let children = tasks.flatten().filter_map(|task| task.children().ok()).flatten();
        all.extend(children.collect::<Vec<u32>>());
    }
    all
}

/// Every process, and the words that it was started with.
pub(crate) fn commands() -> impl Iterator<Item = (Process, Vec<String>)> {
    let all = all_processes().into_iter().flatten().flatten();
    all.filter_map(|process| {
        let words = process.cmdline().ok()?;
        Some((process, words))
    })
}
