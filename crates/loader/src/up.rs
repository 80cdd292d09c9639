// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Loading: from whatever is found to all in place, or nothing done and a reason.

use crate::cgroup::Hierarchy;
use crate::facts::Facts;
use crate::group::Group;
use crate::health::{examine, Health};
use crate::holders::{holders, Holder};
use crate::lock::Lock;
use crate::policy::Policy;
use crate::release::release;
use crate::state::State;
use crate::{
    attachments, bpffs, doctor, kernel, niceness, pins, quic, receiver, rules, sender, Error,
    Result, Step, UpOptions,
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
    let kept = Kept {
        adopting: options.applications || receiver::adopting(),
        refusing: options.quic || quic::refusing(),
        nice: niceness::entries(),
    };
    let (attached, ruled) = (attachments::entries(), rules::current());
    // The mark of completeness first: whoever dies from here on leaves something visibly incomplete.
    pins::remove_file(&pins::state())?;
    release();
    pins::remove_links()?;
    pins::remove_rest()?;
    on_step(Step::StaleRemoved);
    let loaded = load(options, &facts, &hierarchy, &kept, on_step);
    if loaded.is_err() {
        // The first error is the one to tell; the next up removes what this could not.
        let _ = pins::remove_links().and_then(|()| pins::remove_rest());
        if outcome == Outcome::Loaded {
            let _ = hierarchy.remove().and_then(|_| bpffs::unmount()); // nobody was in them
        }
    }
    loaded?;
    attachments::restore(&attached);
    rules::put(&ruled)?;
    Ok(outcome)
}

/// What is loaded beside the rest only where it is asked for.
fn extend(options: &UpOptions, hierarchy: &Hierarchy) -> Result<Outcome> {
    let mut new = Vec::new();
    if options.applications && receiver::load_option(hierarchy)? {
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

/// Of what was there before a repair.
struct Kept {
    adopting: bool,
    refusing: bool,
    /// Processes and their bits.
    nice: Vec<(u32, u32)>,
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
        .unwrap_or(kernel::CURRENT_CONG_CONTROL_ARGS);
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
    // Somebody else's program may hold the root of the cgroups; then root's levels work, and others are told why not.
    let hindered = load_for_all(hierarchy, options.mark, &kept.nice).err();
    on_step(Step::NicenessAttached);
    if kept.adopting {
        receiver::load_option(hierarchy)?;
    }
    if kept.refusing {
        quic::load(hierarchy)?;
    }
    State::new(
        options.algorithms(),
        options.mark,
        hindered
            .as_ref()
            .map(|why| in_short(why) + &by_whom(hierarchy)),
    )
    .pin()?;
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

/// Why nothing can be attached to cgroups below the root, if somebody's program is the reason.
fn held(hierarchy: &Hierarchy) -> Option<Error> {
    let sockops = |holder: &Holder| holder.hook == "sock_ops";
    let all = holders(hierarchy.root());
    all.into_iter().find(sockops).map(Error::NothingBelow)
}

/// Who holds the root of the cgroups, if it is held.
fn by_whom(hierarchy: &Hierarchy) -> String {
    let holders = holders(hierarchy.root());
    let first = holders.first();
    first.map_or_else(String::new, |holder| {
        format!("; {holder} lets no other join")
    })
}

/// What a line has room for: the verifier's log can be long.
fn in_short(error: &Error) -> String {
    let text = error.to_string();
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(200)
        .collect()
}

/// True when an up has completed and the group can be joined. Cheap: no BPF, two look-ups of a name.
pub fn is_up(hierarchy: &Hierarchy, group: Group) -> bool {
    pins::state().exists() && hierarchy.dir(group).exists()
}
