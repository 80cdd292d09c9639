// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The state of things.

use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use netnice_loader::policy::Counters;
use netnice_loader::status::{status as ask, Condition, GroupStatus, Status};

/// As LSB's init scripts and systemctl have it.
const NOT_UP: u8 = 3;

pub fn status(json: bool) -> Result<ExitCode> {
    let status = ask()?;
    if json {
        super::print_json(&status)?;
    } else {
        print(&status);
    }
    let up = matches!(status.condition, Condition::Up | Condition::Hidden);
    Ok(if up { ExitCode::SUCCESS } else { NOT_UP.into() })
}

fn print(status: &Status) {
    match (&status.condition, &status.loaded) {
        (Condition::Up, Some(loaded)) => {
            let since = UNIX_EPOCH + Duration::from_secs(loaded.since);
            let age = SystemTime::now().duration_since(since).unwrap_or_default();
            println!(
                "up for {}: {}, version {}",
                span(age.as_secs()),
                loaded.algorithms.join(", "),
                loaded.version
            );
            println!(
                "DSCP LE marking: {}",
                if loaded.mark { "on" } else { "off" }
            );
            if !status.same_build {
                println!(
                    "loaded by another build of netnice than this one; 'netnicectl up' replaces it"
                );
            }
        }
        (Condition::Incomplete, _) => {
            println!("incomplete: an up or down did not finish; 'netnicectl up' repairs it, 'netnicectl down' removes it");
        }
        (Condition::Hidden, _) => println!("up; run it as root to see what is loaded"),
        _ => println!("down; 'netnicectl up' loads it"),
    }
    for c in &status.connections {
        println!(
            "connections on '{}' in this network namespace: {}",
            c.algorithm, c.count
        );
    }
    for group in status.groups.iter().filter(|g| worth_telling(g)) {
        print_group(group);
    }
    if let Some(receiver) = &status.receiver {
        let c = &receiver.counters;
        println!("receiver '{}'", receiver.algorithm);
        println!("  connections      {} since up", c.connections);
        if c.adopted > 0 {
            println!("  of them          {} were in use already", c.adopted);
        }
        if receiver.applications {
            println!("  applications     applications may choose for their connections");
        }
        println!("  segments         {} received", c.segments);
        if c.unstamped > 0 {
            println!(
                "  of them          {} without timestamps, judged by round trips",
                c.unstamped
            );
        }
    }
}

/// The levels themselves; of their variants those that somebody uses.
fn worth_telling(group: &GroupStatus) -> bool {
    let used = |c: &Counters| c.active + c.passive > 0;
    !group.name.contains('-')
        || !group.processes.is_empty()
        || group.counters.as_ref().is_some_and(used)
}

fn print_group(group: &GroupStatus) {
    println!("{}", group.name);
    println!("  processes        {}", group.processes.len());
    let Some(c) = &group.counters else { return };
    println!(
        "  connections      {} opened, {} accepted since up",
        c.active, c.passive
    );
    if c.cc_failed > 0 {
        println!(
            "  not slowed       {} kept their congestion control: it could not be set",
            c.cc_failed
        );
    }
    println!("  marked DSCP LE   {}", c.marked);
    if c.mapped_unmarked > 0 {
        println!(
            "  not marked       {} are IPv4 on IPv6 sockets, which needs a newer kernel",
            c.mapped_unmarked
        );
    }
    if c.mark_failed > 0 {
        println!("  not marked       {} refused by the kernel", c.mark_failed);
    }
}

fn span(seconds: u64) -> String {
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, processes: &[u32], active: u64) -> GroupStatus {
        GroupStatus {
            name: name.to_owned(),
            processes: processes.to_vec(),
            counters: Some(Counters {
                active,
                ..Counters::default()
            }),
        }
    }

    #[test]
    fn levels_always_and_variants_in_use() {
        assert!(worth_telling(&group("level2", &[], 0)));
        assert!(!worth_telling(&group("level2-both", &[], 0)));
        assert!(worth_telling(&group("level2-both", &[1], 0)));
        assert!(worth_telling(&group("level0-unmarked", &[], 1)));
    }

    #[test]
    fn spans() {
        assert_eq!(span(59), "59 s");
        assert_eq!(span(60), "1 min");
        assert_eq!(span(3_700), "1 h 1 min");
        assert_eq!(span(90_000), "1 d 1 h");
    }
}
