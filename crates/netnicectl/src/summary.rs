// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The state of things, for people.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use netnice_loader::attachments::Attachment;
use netnice_loader::deadline::TimedProcess;
use netnice_loader::floor::Together;
use netnice_loader::group::Direction;
use netnice_loader::niceness::NicenessStatus;
use netnice_loader::policy::Counters;
use netnice_loader::receiver::ReceiverStatus;
use netnice_loader::settings::State;
use netnice_loader::status::{Background, Condition, GroupStatus, Status};

/// What `netnicectl status` prints of it.
pub struct Summary<'a>(pub &'a Status);

impl Display for Summary<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let status = self.0;
        condition(f, status)?;
        status.background.as_ref().map_or(Ok(()), |b| background(f, b))?;
        if let Some(why) = &status.connections_untold {
            writeln!(f, "connections cannot be counted: {why}")?;
        }
        let counted = status.connections_untold.is_none();
        for c in status.connections.iter().filter(|_| counted) {
            let marked = match c.count {
                0 => String::new(),
                _ => format!(", of them marked DSCP LE now: {}", c.marked),
            };
            writeln!(
                f,
                "connections on '{}' in this network namespace: {}{marked}",
                c.algorithm, c.count
            )?;
        }
        for g in status.groups.iter().filter(|g| is_used(g)) {
            group(f, g)?;
        }
        for a in &status.attached {
            attached(f, a)?;
        }
        if !status.rules.is_empty() {
            let number = status.rules.len();
            writeln!(f, "rules in effect: {number}; 'netnicectl policy show' prints them")?;
        }
        status.niceness.as_ref().map_or(Ok(()), |n| niceness(f, n))?;
        for TimedProcess { pid, ends } in &status.timed {
            writeln!(f, "process {pid} at level {} until {}", ends.group, ends.until)?;
        }
        for Together { at_least, processes } in &status.floors {
            let numbers: Vec<String> = processes.iter().map(u32::to_string).collect();
            writeln!(f, "at least {at_least} together: process {}", numbers.join(", "))?;
        }
        status.receiver.as_ref().map_or(Ok(()), |r| receiver(f, r))?;
        status
            .quic_refused
            .map_or(Ok(()), |refused| writeln!(f, "QUIC attempts blocked: {refused}"))
    }
}

fn condition(f: &mut Formatter<'_>, status: &Status) -> fmt::Result {
    match (&status.condition, &status.loaded) {
        (Condition::Up, Some(state)) => loaded(f, state, status.same_build),
        (Condition::Incomplete, _) => writeln!(
            f,
            "incomplete: an up or down did not finish; 'netnicectl up' repairs it, 'netnicectl down' removes it"
        ),
        (Condition::Hidden, _) => writeln!(f, "up; run it as root to see what is loaded"),
        _ => writeln!(f, "down; 'netnicectl up' loads it"),
    }
}

fn loaded(f: &mut Formatter<'_>, state: &State, same_build: bool) -> fmt::Result {
    let since = UNIX_EPOCH + Duration::from_secs(state.since);
    let age = SystemTime::now().duration_since(since).unwrap_or_default();
    writeln!(
        f,
        "up for {}: {}, version {}",
        span(age.as_secs()),
        state.algorithms.join(", "),
        state.version
    )?;
    writeln!(f, "DSCP LE marking: {}", if state.mark { "on" } else { "off" })?;
    if let Some(why) = &state.hindered {
        writeln!(f, "only root can use it: {why}")?;
        writeln!(f, "  when that is gone, 'netnicectl down' and 'up' let every user")?;
    }
    if !same_build {
        writeln!(
            f,
            "loaded by another build of netnice than this one; 'netnicectl up' replaces it"
        )?;
    }
    Ok(())
}

fn attached(f: &mut Formatter<'_>, attachment: &Attachment) -> fmt::Result {
    let Attachment {
        cgroup,
        by_rule,
        without_quic,
        group,
    } = attachment;
    let rule = if *by_rule { " by a rule" } else { "" };
    let direction = match group.direction {
        Direction::Both => "",
        Direction::Send => ", send only",
        Direction::Receive => ", receive only",
    };
    let mark = if group.marked { "" } else { ", unmarked" };
    let quic = if *without_quic { ", without QUIC" } else { "" };
    let (cgroup, level) = (cgroup.display(), group.level);
    writeln!(f, "attached{rule} at level {level}{direction}{mark}{quic}: {cgroup}")
}

fn receiver(f: &mut Formatter<'_>, receiver: &ReceiverStatus) -> fmt::Result {
    let c = &receiver.counters;
    writeln!(f, "receiver '{}'", receiver.algorithm)?;
    writeln!(f, "  connections      {} since up", c.connections)?;
    if c.adopted > 0 {
        writeln!(f, "  of them          {} were in use already", c.adopted)?;
    }
    if c.refused > 0 {
        let number = c.refused;
        writeln!(
            f,
            "  do not yield     {number}: no memory for them (sysctl net.core.optmem_max)"
        )?;
    }
    if receiver.applications {
        writeln!(f, "  applications     applications may choose for their connections")?;
    }
    writeln!(f, "  segments         {} received", c.segments)?;
    if c.unstamped > 0 {
        writeln!(
            f,
            "  of them          {} without timestamps, judged by round trips",
            c.unstamped
        )?;
    }
    Ok(())
}

/// In whatever way they came there.
fn background(f: &mut Formatter<'_>, background: &Background) -> fmt::Result {
    let levels = background.levels.iter().enumerate();
    let levels: Vec<String> = levels.map(|(level, count)| format!("level {level}: {count}")).collect();
    let all: usize = background.levels.iter().sum();
    write!(f, "processes in the background: {all} ({})", levels.join(", "))?;
    match background.with_attached {
        true => writeln!(f),
        false => writeln!(f, "; only root sees those of attached units and containers"),
    }
}

fn is_used(group: &GroupStatus) -> bool {
    let used = |c: &Counters| c.active + c.passive > 0;
    !group.processes.is_empty() || group.counters.as_ref().is_some_and(used)
}

fn group(f: &mut Formatter<'_>, group: &GroupStatus) -> fmt::Result {
    writeln!(f, "cgroup netnice/{}", group.name)?;
    writeln!(f, "  processes        {}", group.processes.len())?;
    group.counters.as_ref().map_or(Ok(()), |c| counted(f, c))
}

fn niceness(f: &mut Formatter<'_>, niceness: &NicenessStatus) -> fmt::Result {
    writeln!(f, "nice by themselves, in whatever cgroup")?;
    writeln!(f, "  processes        {}", niceness.processes.len())?;
    if niceness.refused > 0 {
        writeln!(
            f,
            "  not nice         {} times there was no room for one more",
            niceness.refused
        )?;
    }
    counted(f, &niceness.counters)
}

fn counted(f: &mut Formatter<'_>, c: &Counters) -> fmt::Result {
    writeln!(
        f,
        "  connections      {} opened, {} accepted since up",
        c.active, c.passive
    )?;
    if c.cc_failed > 0 {
        writeln!(
            f,
            "  not slowed       {} kept their congestion control: it could not be set",
            c.cc_failed
        )?;
    }
    writeln!(f, "  marked DSCP LE   {} when they began", c.marked)?;
    if c.mapped_unmarked > 0 {
        writeln!(
            f,
            "  not marked       {} are IPv4 on IPv6 sockets, which needs a newer kernel",
            c.mapped_unmarked
        )?;
    }
    if c.mark_failed > 0 {
        writeln!(f, "  not marked       {} refused by the kernel", c.mark_failed)?;
    }
    Ok(())
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
    fn cgroups_in_use() {
        assert!(!is_used(&group("level2", &[], 0)));
        assert!(is_used(&group("level2", &[1], 0)));
        assert!(is_used(&group("level0-unmarked", &[], 1)));
    }

    struct Counted(Background);

    impl Display for Counted {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            background(f, &self.0)
        }
    }

    #[test]
    fn processes_by_level() {
        let said = |with_attached| {
            let levels = [2, 0, 1];
            Counted(Background { levels, with_attached }).to_string()
        };
        let line = "processes in the background: 3 (level 0: 2, level 1: 0, level 2: 1)";
        assert_eq!(said(true), format!("{line}\n"));
        assert!(
            said(false).starts_with(line) && said(false).contains("only root sees"),
            "{}",
            said(false)
        );
    }

    #[test]
    fn spans() {
        assert_eq!(span(59), "59 s");
        assert_eq!(span(60), "1 min");
        assert_eq!(span(3_700), "1 h 1 min");
        assert_eq!(span(90_000), "1 d 1 h");
    }
}
