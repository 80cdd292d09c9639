// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The administrator's policy: rules that put units, containers and programs into the background, those that are there
//! and those to come. The kernel compares names when a cgroup is made and when a program begins
//! (`algorithms/niceness/rule.h`); what is there already is found here.
//!
//! What an administrator has attached by hand stays as it is, and no connection is interrupted.

mod containers;
mod file;
mod hours;
mod launchers;
mod names;
mod rule;
mod source;
pub mod timetable;

use std::path::{Path, PathBuf};

use jiff::{Timestamp, ZonedDateTime};
use libbpf_rs::{MapCore, MapFlags};
use procfs::process::{all_processes, StatFlags};
use rustix::process::setsid;

use crate::attachments::{self, finish, floor_bit, id, look, open, put as attach, InEffect, SwitchCounts, DEPTHS};
use crate::cgroup::Hierarchy;
use crate::deadline::{self, Deadline};
use crate::floor::{self, Floor};
use crate::group::Group;
use crate::live::{switch, Target};
use crate::lock::Lock;
use crate::niceness::{Heirs, Refusal};
use crate::settings::State;
use crate::settling::settle;
use crate::shared::{
    niceness_choices, nn_rule, ATTACHED_BY_RULE, ATTACHED_PENDING, NN_NICENESS_ALONE, NN_NICENESS_NO_QUIC, NN_RULES,
};
use crate::{niceness, pins, quic, waiting, Error, Result};

pub use file::{read, Written, FILE};
pub use hours::{Hours, NoHours, Window};
pub use rule::{NoPattern, Pattern, Rule, Subject};
pub use source::{naming, removal, Source};

/// Of a set: the kernel's side has two.
const ROOM: u32 = NN_RULES as u32;

/// What applying rules has done.
#[derive(Debug, Default)]
pub struct Applied {
    pub rules: usize,
    /// Cgroups that are attached by a rule now.
    pub cgroups: usize,
    /// Cgroups that a rule names, and that were attached by hand: unchanged.
    pub by_hand: usize,
    /// Of the processes in cgroups that changed, and of programs that a rule names.
    pub switched: SwitchCounts,
    /// Numbers and names of processes that only an earlier rule names: as with nice(1), they stay as nice.
    pub kept: Vec<(u32, String)>,
}

/// What there is that a rule names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Below the root.
    pub cgroups: Vec<PathBuf>,
    /// Numbers and names of processes.
    pub processes: Vec<(u32, String)>,
}

/// These rules hold from now on, and no others; those with hours, when they begin.
/// It takes root, and netnice must be up.
pub fn apply(rules: &[Rule]) -> Result<Applied> {
    let done = put_into_effect(rules)?;
    timetable::plan(next_change(rules)).map_err(Error::Timetable)?;
    Ok(done)
}

/// The next moment at which a rule begins or ends to hold.
fn next_change(rules: &[Rule]) -> Option<Timestamp> {
    let now = ZonedDateTime::now();
    let hours = rules.iter().filter_map(|rule| rule.hours);
    hours.map(|hours| hours.window(&now).next()).min()
}

/// What [`timetable::NAME`] does: it applies the same rules again at such moments, until none with hours holds.
pub fn wait_for_hours() -> Result<()> {
    waiting::leave_files().map_err(Error::Timetable)?;
    let _ = setsid(); // the terminal's signals are not for it
    while let Some(at) = next_change(&current()) {
        let timer = waiting::wall_timer_or_step(at.as_second());
        timer
            .and_then(|timer| waiting::is_first(&timer, None, None))
            .map_err(Error::Timetable)?;
        put_into_effect(&current())?;
    }
    Ok(())
}

fn put_into_effect(rules: &[Rule]) -> Result<Applied> {
    let map = open("apply rules to")?;
    let hierarchy = Hierarchy::find()?;
    if rules.iter().any(|rule| rule.without_quic) {
        quic::refuse()?;
    }
    let mut done = Applied {
        rules: rules.len(),
        ..Applied::default()
    };
    let now = ZonedDateTime::now();
    let in_force: Vec<Rule> = rules.iter().filter(|rule| rule.holds(&now)).cloned().collect();
    let mut changed = Vec::new();
    let former;
    {
        let _lock = Lock::take()?;
        former = current();
        put(rules)?; // first: what is made from now on is the kernel's to find
        let before = attachments::entries();
        let rules = &in_force;
        for cgroup in hierarchy.cgroups() {
            let Ok(id) = id(&cgroup) else {
                continue; // it has ended
            };
            let now = before.get(&id).copied();
            let wanted = of_cgroup(rules, &hierarchy, &cgroup);
            let floor = floor_of_cgroup(rules, &hierarchy, &cgroup);
            let wanted = wanted.map(|bits| bits | ATTACHED_BY_RULE | floor_bit(floor));
            match (now, wanted) {
                (Some(bits), wanted) if by_hand(bits) => {
                    done.by_hand += usize::from(wanted.is_some());
                    continue;
                }
                (now, Some(bits)) if now != Some(bits) || floor.is_some() => {
                    floor::put(id, floor)?;
                    attach(&map, id, bits | ATTACHED_PENDING)?;
                }
                (Some(_), None) => {
                    attach(&map, id, ATTACHED_BY_RULE | ATTACHED_PENDING)?;
                    floor::put(id, None)?;
                }
                (_, wanted) => {
                    done.cgroups += usize::from(wanted.is_some());
                    continue;
                }
            }
            done.cgroups += usize::from(wanted.is_some());
            changed.push(cgroup);
        }
        look(&hierarchy)?;
    } // what follows may need it itself
    for cgroup in changed {
        done.switched.add(finish(&map, &hierarchy, &cgroup)?);
    }
    let in_effect = InEffect::read();
    let (timed, always): (Vec<Rule>, _) = in_force.into_iter().partition(|rule| rule.hours.is_some());
    for (pid, name) in processes() {
        if let Some(bits) = of_command(&always, &name) {
            give_floor(&always, pid, &name);
            done.switched.add(raise(pid, bits, &in_effect));
        }
    }
    for rule in &timed {
        done.switched.add(raise_for_hours(rule, &now, &in_effect));
    }
    if rules.iter().any(|rule| rule.hours.is_some()) {
        done.switched.add(settle());
    }
    done.kept = kept(&former, rules);
    Ok(done)
}

/// Processes that are nicer than the rules have them, and that a former rule has made so. A rule with hours has made none:
/// they end by themselves.
fn kept(former: &[Rule], rules: &[Rule]) -> Vec<(u32, String)> {
    let always = |rules: &[Rule]| -> Vec<Rule> { rules.iter().filter(|r| r.hours.is_none()).cloned().collect() };
    let (former, rules) = (always(former), always(rules));
    let is_kept = |(pid, name): &(u32, String)| {
        let (was, now) = (of_command(&former, name), of_command(&rules, name));
        let now = now.and_then(niceness::group);
        let nicer = || Group::nicer(niceness::of(*pid), now) != now;
        was.and_then(niceness::group).is_some_and(|was| Some(was) != now) && nicer()
    };
    match former.iter().any(|rule| rule.subject == Subject::Command) {
        true => processes().filter(is_kept).collect(),
        false => Vec::new(),
    }
}

/// Of an entry: no rule made it, and no command has begun to take it back.
fn by_hand(bits: u32) -> bool {
    bits & ATTACHED_BY_RULE == 0 && niceness::group(bits).is_some()
}

/// Those of the administrator's file hold, if there is one.
/// As [`read`] and [`apply`].
pub fn apply_file() -> Result<Option<Applied>> {
    let file = Path::new(FILE);
    if !file.exists() {
        return Ok(None);
    }
    let written = read(file)?;
    let rules: Vec<Rule> = written.into_iter().flat_map(|one| one.means).collect();
    apply(&rules).map(Some)
}

/// The rules that hold, or why they cannot be read.
pub fn holding() -> Result<Vec<Rule>> {
    State::required("show")?;
    Ok(current())
}

/// The rules that the kernel has; none where it may not be asked.
pub fn current() -> Vec<Rule> {
    let Some((map, choices)) = pins::map(&pins::rules()).zip(niceness::choices()) else {
        return Vec::new();
    };
    let read = |i: u32| -> Option<Rule> {
        let value = map.lookup(&i.to_ne_bytes(), MapFlags::ANY).ok()??;
        let value: [u8; size_of::<nn_rule>()] = value.try_into().ok()?;
        // SAFETY: as many bytes as the structure has, of integers.
        Rule::of_kernel(&unsafe { std::mem::transmute::<[u8; size_of::<nn_rule>()], nn_rule>(value) })
    };
    let first = choices.set * ROOM;
    let number = choices.rules[choices.set as usize % 2];
    (first..first + number).filter_map(read).collect()
}

/// Gives them to the kernel: into the set that it does not compare, which then holds in place of the other.
pub(crate) fn put(rules: &[Rule]) -> Result<()> {
    let Some((map, choices)) = pins::map(&pins::rules()).zip(niceness::choices()) else {
        return Ok(()); // another program holds the root
    };
    let set = 1 - choices.set % 2;
    for (i, rule) in (set * ROOM..).zip(rules) {
        // SAFETY: a structure of integers without gaps, as many bytes as it has.
        let value: [u8; size_of::<nn_rule>()] = unsafe { std::mem::transmute(rule.to_kernel()) };
        map.update(&i.to_ne_bytes(), &value, MapFlags::ANY)
            .map_err(Error::bpf("keep a rule"))?;
    }
    let mut numbers = choices.rules;
    numbers[set as usize] = rules.len() as u32;
    niceness::choose(niceness_choices {
        set,
        rules: numbers,
        ..niceness::choices().unwrap_or(choices)
    })
}

/// What there is now that these rules name.
/// There is no hierarchy of cgroups.
pub fn named(rules: &[Rule]) -> Result<Named> {
    let hierarchy = Hierarchy::find()?;
    let cgroups = hierarchy.cgroups();
    Ok(Named {
        cgroups: cgroups
            .filter(|cgroup| of_cgroup(rules, &hierarchy, cgroup).is_some())
            .map(|cgroup| hierarchy.below_root(&cgroup))
            .collect(),
        processes: processes()
            .filter(|(_, name)| of_command(rules, name).is_some())
            .collect(),
    })
}

/// What the rules have a cgroup be, as enum nn_niceness_bit has it.
fn of_cgroup(rules: &[Rule], hierarchy: &Hierarchy, cgroup: &Path) -> Option<u32> {
    let below = hierarchy.below_root(cgroup);
    if hierarchy.depth(cgroup) >= DEPTHS || hierarchy.is_ours(cgroup) {
        return None;
    }
    let below = below.to_str()?;
    all_of(rules.iter().filter(|rule| rule.names_cgroup(below)))
}

/// What it has at least; of several rules the most counts.
fn floor_of_cgroup(rules: &[Rule], hierarchy: &Hierarchy, cgroup: &Path) -> Option<Floor> {
    let below = hierarchy.below_root(cgroup);
    let below = below.to_str()?;
    let named = rules.iter().filter(|rule| rule.names_cgroup(below));
    named.filter_map(|rule| rule.at_least).max()
}

fn of_command(rules: &[Rule], name: &str) -> Option<u32> {
    all_of(rules.iter().filter(|rule| rule.names_command(name)))
}

/// A program that runs has one of its own from now on, if a rule says so and it has none.
fn give_floor(rules: &[Rule], pid: u32, name: &str) {
    let named = rules.iter().filter(|rule| rule.names_command(name));
    let Some(floor) = named.filter_map(|rule| rule.at_least).max() else {
        return;
    };
    if floor::of(pid).is_none() {
        let _ = floor.ask().and_then(|()| floor::give(pid)); // it has ended, or there is no room
    }
}

/// Of several rules that name something all count: it yields where any has it yield.
fn all_of<'a>(rules: impl Iterator<Item = &'a Rule>) -> Option<u32> {
    rules.map(Rule::niceness).reduce(both)
}

/// As nn_niceness_of_rules() has it: children inherit if either has them inherit.
fn both(one: u32, other: u32) -> u32 {
    (one | other) & !NN_NICENESS_ALONE | one & other & NN_NICENESS_ALONE
}

/// Numbers and names of programs that run; the kernel's own threads are none.
fn processes() -> impl Iterator<Item = (u32, String)> {
    let all = all_processes().into_iter().flatten().flatten();
    all.filter_map(|process| {
        let stat = process.stat().ok()?;
        let flags = StatFlags::from_bits_truncate(stat.flags);
        let runs = !flags.contains(StatFlags::PF_KTHREAD) && !matches!(stat.state, 'Z' | 'X');
        runs.then_some((stat.pid.unsigned_abs(), stat.comm))
    })
}

/// Programs of such a name that run, until the rule's hours end. What one of them keeps is not changed.
fn raise_for_hours(rule: &Rule, now: &ZonedDateTime, in_effect: &InEffect) -> SwitchCounts {
    let mut counts = SwitchCounts::default();
    let (Some(hours), Subject::Command) = (rule.hours, rule.subject) else {
        return counts;
    };
    let ends = hours.window(now).ends.as_second();
    let heirs = Heirs::of_alone(!rule.inherit);
    for (pid, _) in processes().filter(|(_, name)| rule.names_command(name)) {
        let until = Deadline::At(ends).ask().and_then(|()| deadline::give(pid));
        counts.add(
            match until.and_then(|()| niceness::raise_other(pid, rule.group, heirs)) {
                Ok(()) => SwitchCounts::of(pid, switch(pid, &Target::of(in_effect.of(pid)).only_nicer())),
                Err(Refusal::NoProcess(_)) => SwitchCounts::default(),
                Err(why) => SwitchCounts::missed(why.to_string()),
            },
        );
    }
    counts
}

/// A process that runs, with the connections it has. It never becomes less nice, nor do they: what holds its cgroup counts.
fn raise(pid: u32, bits: u32, in_effect: &InEffect) -> SwitchCounts {
    let own = Group::nicer(niceness::of(pid), niceness::group(bits));
    let without_quic = || match bits & NN_NICENESS_NO_QUIC {
        0 => Ok(()),
        _ => niceness::forgo_quic(pid),
    };
    let heirs = Heirs::of_alone(bits & NN_NICENESS_ALONE != 0);
    match niceness::set(pid, own, heirs).and_then(|()| without_quic()) {
        Ok(()) => {
            let target = Target::of(Group::nicer(own, in_effect.of(pid)));
            SwitchCounts::of(pid, switch(pid, &target.only_nicer()))
        }
        Err(Refusal::NoProcess(_)) => SwitchCounts::default(),
        Err(why) => SwitchCounts::missed(why.to_string()),
    }
}
