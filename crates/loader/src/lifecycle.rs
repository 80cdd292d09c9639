// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Loading: from whatever is found to all in place, or nothing done and a reason. Unloading: nothing stays; every socket that
//! a process has gets back what it had.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use libbpf_rs::query::{LinkInfo, LinkTypeInfo};
use libbpf_rs::Link;

use crate::cgroup::Hierarchy;
use crate::error::{holders, Holder};
use crate::facts::{privileged, Facts};
use crate::group::Group;
use crate::lock::Lock;
use crate::niceness::{self, Place};
use crate::policy::Policy;
use crate::receiver::{self, Counters, Params, ADOPTED_PROGRAM, OFF, OPTION_PROGRAM, PROGRAM};
use crate::settings::State;
use crate::{
    attachments, bpffs, deadline, doctor, facts, floor, live, pins, quic, rules, sender, Error, Result, Step, UpOptions,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    AlreadyUp,
    Loaded,
    /// Something was there and was replaced: what was wrong with it.
    Repaired(Vec<String>),
    /// All was there but what was asked for in addition.
    Extended(Vec<&'static str>),
}

/// Brings everything into place. Safe to call again, at once from several processes, and after any crash.
pub fn up(options: &UpOptions, on_step: &mut dyn FnMut(Step)) -> Result<Outcome> {
    let outcome = bring(options, on_step)?;
    attachments::finish_all()?;
    Ok(outcome)
}

fn bring(options: &UpOptions, on_step: &mut dyn FnMut(Step)) -> Result<Outcome> {
    options.check()?;
    let facts = Facts::gather("/".as_ref());
    let missing = doctor::missing(&facts);
    if !missing.is_empty() {
        return Err(Error::Unsupported(missing));
    }
    let _lock = Lock::take()?;
    on_step(Step::Locked);
    bpffs::mount()?;
    on_step(Step::BpffsMounted);
    let hierarchy = Hierarchy::find()?;
    let outcome = match examine(&hierarchy, options)? {
        Health::Healthy => return extend(options, &hierarchy),
        Health::Absent => Outcome::Loaded,
        Health::Degraded(defects) => Outcome::Repaired(defects),
    };
    let options = &UpOptions {
        applications: options.applications || State::read().is_some_and(|state| state.applications),
        ..options.clone()
    };
    let kept = Kept {
        adopting: options.applications || receiver::adopting(),
        refusing: options.quic || quic::refusing(),
        nice: niceness::entries(),
        timed: deadline::entries(),
        floors: floor::entries(),
    };
    let (attached, ruled) = (attachments::entries(), rules::current());
    // The mark of completeness first: a command that dies from here on leaves something visibly incomplete.
    pins::remove_file(&pins::state())?;
    release();
    pins::remove_links(None)?;
    pins::remove_rest()?;
    on_step(Step::StaleRemoved);
    let loaded = load(options, &facts, &hierarchy, &kept, on_step);
    if loaded.is_err() {
        // The first error is the one to tell; the next up removes what this could not.
        let _ = pins::remove_links(None).and_then(|()| pins::remove_rest());
        if outcome == Outcome::Loaded {
            let _ = hierarchy.remove().and_then(|_| bpffs::unmount()); // no process was in them
        }
    }
    loaded?;
    attachments::restore(&attached);
    deadline::restore(&kept.timed);
    floor::restore(&kept.floors);
    rules::put(&ruled)?;
    Ok(outcome)
}

/// What is loaded beside the rest only where it is asked for.
fn extend(options: &UpOptions, hierarchy: &Hierarchy) -> Result<Outcome> {
    let mut new = Vec::new();
    if options.applications && let_applications(hierarchy)? {
        new.push("applications");
    }
    if options.quic && quic::load(hierarchy)? {
        new.push("QUIC");
    }
    Ok(match new.is_empty() {
        true => Outcome::AlreadyUp,
        false => Outcome::Extended(new),
    })
}

/// Applications may have sockets of their own yield: what they call is loaded, maybe since a 'netnice -p', and it is on record.
fn let_applications(hierarchy: &Hierarchy) -> Result<bool> {
    let loaded = receiver::load_option(hierarchy)?;
    let Some(mut state) = State::read().filter(|state| !state.applications) else {
        return Ok(loaded);
    };
    state.applications = true;
    pins::remove_file(&pins::state())?;
    state.pin()?;
    Ok(true)
}

/// Of what was there before a repair.
struct Kept {
    adopting: bool,
    refusing: bool,
    /// Processes and their bits.
    nice: Vec<(u32, u32)>,
    /// What of these ends.
    timed: deadline::Entries,
    floors: floor::Entries,
}

fn load(
    options: &UpOptions,
    facts: &Facts,
    hierarchy: &Hierarchy,
    kept: &Kept,
    on_step: &mut dyn FnMut(Step),
) -> Result<()> {
    pins::make()?;
    on_step(Step::PinsMade);
    let args = facts
        .types
        .and_then(|t| t.cong_control_args)
        .unwrap_or(facts::CURRENT_CONG_CONTROL_ARGS);
    sender::load(&options.algorithms(), args, on_step)?;
    let mut policy = Policy::load()?;
    on_step(Step::PolicyLoaded);
    for group in Group::all() {
        hierarchy.make(group)?;
        on_step(Step::CgroupMade);
        if group.direction.sends() {
            let mark = group.marked && options.mark;
            let done = policy.attach(hierarchy, group, mark, on_step);
            done.map_err(|why| held(hierarchy).unwrap_or(why))?;
        }
    }
    receiver::load(hierarchy, on_step)?;
    // Another program may hold the root of the cgroups; then levels work for root, and users without root get the reason.
    let hindered = load_for_all(hierarchy, options.mark, &kept.nice).err();
    on_step(Step::NicenessAttached);
    if kept.adopting {
        receiver::load_option(hierarchy)?;
    }
    if kept.refusing {
        quic::load(hierarchy)?;
    }
    let hindered = hindered.as_ref().map(|why| in_short(why) + &by_whom(hierarchy));
    State::new(options, hindered).pin()?;
    on_step(Step::StatePinned);
    Ok(())
}

/// What processes of any cgroup need, all of it or nothing.
fn load_for_all(hierarchy: &Hierarchy, mark: bool, nice: &[(u32, u32)]) -> Result<()> {
    niceness::load(hierarchy, mark, nice)?;
    receiver::load_adopted(hierarchy).inspect_err(|_| {
        let _ = niceness::unload(); // the first error is the one to tell
    })
}

/// Why nothing can be attached to cgroups below the root, if another program is the reason.
fn held(hierarchy: &Hierarchy) -> Option<Error> {
    let sockops = |holder: &Holder| holder.hook == "sock_ops";
    let all = holders(hierarchy.root());
    all.into_iter().find(sockops).map(Error::NothingBelow)
}

/// The program that holds the root of the cgroups, if it is held.
fn by_whom(hierarchy: &Hierarchy) -> String {
    let holders = holders(hierarchy.root());
    let first = holders.first();
    first.map_or_else(String::new, |holder| format!("; {holder} lets no other join"))
}

/// What a line has room for: the verifier's log can be long.
fn in_short(error: &Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// True when an up has completed and the group can be joined. Cheap: no BPF, two look-ups of a name.
pub fn is_up(hierarchy: &Hierarchy, group: Group) -> bool {
    pins::state().exists() && hierarchy.dir(group).exists()
}

/// What down found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    /// False when nothing was loaded.
    pub anything: bool,
    /// Processes that were nice, by themselves or by a cgroup of netnice, and are in the foreground now.
    pub returned: usize,
    /// The bpf file system was ours and is unmounted.
    pub unmounted: bool,
}

pub fn down(on_step: &mut dyn FnMut(Step)) -> Result<Removed> {
    if !privileged() {
        return Err(Error::NotRoot("unload netnice"));
    }
    let _lock = Lock::take()?;
    on_step(Step::Locked);
    let pinned = pins::root().exists();
    let nice = niceness::entries().len();
    pins::remove_file(&pins::state())?;
    on_step(Step::StateRemoved);
    rules::timetable::stop();
    // First what makes connections nice, so that none comes after those that are given back.
    pins::remove_links(Some(SELECTING))?;
    let _ = stop_receiving();
    live::restore_all();
    if may_hold_windows() {
        sleep(LETTING_GO);
    }
    pins::remove_links(None)?;
    on_step(Step::LinksRemoved);
    pins::remove_rest()?;
    on_step(Step::PinsRemoved);
    let (made, moved) = match Hierarchy::find() {
        Ok(hierarchy) => (hierarchy.exists(), hierarchy.remove()?),
        Err(Error::NoCgroup2) => (false, 0),
        Err(e) => return Err(e),
    };
    on_step(Step::CgroupsRemoved);
    let unmounted = bpffs::unmount()?;
    on_step(Step::BpffsUnmounted);
    Ok(Removed {
        anything: pinned || made,
        returned: nice + moved,
        unmounted,
    })
}

/// The links of the programs that put connections on a level.
const SELECTING: [&str; 2] = ["policy-", "niceness-"];

/// Long enough for an active connection that could not be reached otherwise to send the ACK that takes its window back to
/// the kernel's.
const LETTING_GO: Duration = Duration::from_millis(300);

pub(crate) fn release() {
    if !pins::receiver_params().exists() {
        return;
    }
    let _ = stop_receiving();
    if may_hold_windows() {
        live::release_all();
        sleep(LETTING_GO);
    }
}

/// Another build may keep its choice elsewhere; then those that can be reached are let go, and no others.
fn stop_receiving() -> Result<()> {
    Params::open(&pins::receiver_params())?.choose(OFF)
}

/// Also where another build counts in another way.
fn may_hold_windows() -> bool {
    let pin = pins::receiver_counters();
    pin.exists() && Counters::read(&pin).is_none_or(|counters| counters.connections > 0)
}

pub(crate) enum Health {
    /// Nothing of netnice is there.
    Absent,
    /// All as asked.
    Healthy,
    /// Something is there, but not all as asked: what is wrong, each in a few words.
    Degraded(Vec<String>),
}

pub(crate) fn examine(hierarchy: &Hierarchy, wanted: &UpOptions) -> Result<Health> {
    let Some(state) = State::read() else {
        let remains = pins::root().exists() || Group::all().any(|group| hierarchy.id(group).is_some());
        return Ok(if remains {
            Health::Degraded(vec!["incomplete".to_owned()])
        } else {
            Health::Absent
        });
    };
    if state.build_id != crate::BUILD_ID {
        // What else there should be is that build's to know.
        let other = format!("loaded by another build, version {}", state.version);
        return Ok(Health::Degraded(vec![other]));
    }
    let mut defects = Vec::new();
    if state.algorithms != wanted.algorithms() || state.mark != wanted.mark {
        defects.push("loaded with other options".to_owned());
    }
    let registered = facts::congestion_controls()?;
    for cc in &state.algorithms {
        if !registered.contains(cc) || !pins::sender_link(cc).exists() {
            defects.push(format!("'{cc}' is no longer registered"));
        }
    }
    for group in Group::all() {
        let name = group.name();
        let there = |pin: &Path| hierarchy.id(group).is_some() && attached_to(pin) == hierarchy.id(group);
        if group.direction.sends() && !there(&pins::policy_link(&name)) {
            defects.push(format!("the cgroup {name} has lost its policy"));
        }
        if group.direction.receives() && !there(&pins::receiver_link(&name, PROGRAM)) {
            defects.push(format!("the cgroup {name} has lost its receiver"));
        }
    }
    let root = hierarchy.root().metadata().ok().map(|m| m.ino());
    let at_root = |program: &str| attached_to(&pins::adopted_link(program)) == root;
    if receiver::adopting() && !at_root(OPTION_PROGRAM) {
        defects.push("the root of the cgroups has lost the option for applications".to_owned());
    }
    if quic::refusing() && !quic::links().all(|link| attached_to(&link) == root) {
        defects.push("the root of the cgroups has lost what refuses QUIC".to_owned());
    }
    let in_place = |(link, place): (PathBuf, Place)| match place {
        Place::Kernel => link.exists(),
        Place::Root => attached_to(&link) == root,
    };
    if state.hindered.is_none() && !(niceness::links().all(in_place) && at_root(ADOPTED_PROGRAM)) {
        defects.push("the eBPF programs that let every user be nice are gone".to_owned());
    }
    if !pins::params().exists() || !pins::receiver_params().exists() {
        defects.push("the parameters are gone".to_owned());
    }
    for (pin, what) in [
        (pins::groups(), "the map of the cgroups"),
        (pins::moved(), "the map of moved sockets"),
        (pins::before(), "the map of what sockets had before"),
        (pins::floors(), "the map of floors"),
    ] {
        if !pin.exists() {
            defects.push(format!("{what} is gone"));
        }
    }
    Ok(if defects.is_empty() {
        Health::Healthy
    } else {
        Health::Degraded(defects)
    })
}

// A link outlives the cgroup it was made for; only the id tells.
fn attached_to(pin: &Path) -> Option<u64> {
    use std::os::fd::AsFd;
    let link = Link::open(pin).ok()?;
    match LinkInfo::from_fd(link.as_fd()).ok()?.info {
        LinkTypeInfo::Cgroup(cgroup) => Some(cgroup.cgroup_id),
        _ => None,
    }
}
