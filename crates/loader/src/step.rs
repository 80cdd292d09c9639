// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The steps of coming up and going down, in the order they happen.

use std::fmt;

/// Named after what has just been done. Between any two of them the process may die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Locked,
    BpffsMounted,
    StaleRemoved,
    PinsMade,
    SenderLoaded,
    ParamsPinned,
    SenderRegistered,
    SenderPinned,
    PolicyLoaded,
    CgroupMade,
    PolicyAttached,
    PolicyPinned,
    ReceiverLoaded,
    ReceiverAttached,
    NicenessAttached,
    StatePinned,
    StateRemoved,
    LinksRemoved,
    PinsRemoved,
    CgroupsRemoved,
    BpffsUnmounted,
}

impl Step {
    pub const UP: [Step; 16] = [
        Step::Locked,
        Step::BpffsMounted,
        Step::StaleRemoved,
        Step::PinsMade,
        Step::SenderLoaded,
        Step::ParamsPinned,
        Step::SenderRegistered,
        Step::SenderPinned,
        Step::PolicyLoaded,
        Step::CgroupMade,
        Step::PolicyAttached,
        Step::PolicyPinned,
        Step::ReceiverLoaded,
        Step::ReceiverAttached,
        Step::NicenessAttached,
        Step::StatePinned,
    ];
    pub const DOWN: [Step; 6] = [
        Step::Locked,
        Step::StateRemoved,
        Step::LinksRemoved,
        Step::PinsRemoved,
        Step::CgroupsRemoved,
        Step::BpffsUnmounted,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Step::Locked => "locked",
            Step::BpffsMounted => "bpffs-mounted",
            Step::StaleRemoved => "stale-removed",
            Step::PinsMade => "pins-made",
            Step::SenderLoaded => "sender-loaded",
            Step::ParamsPinned => "params-pinned",
            Step::SenderRegistered => "sender-registered",
            Step::SenderPinned => "sender-pinned",
            Step::PolicyLoaded => "policy-loaded",
            Step::CgroupMade => "cgroup-made",
            Step::PolicyAttached => "policy-attached",
            Step::PolicyPinned => "policy-pinned",
            Step::ReceiverLoaded => "receiver-loaded",
            Step::ReceiverAttached => "receiver-attached",
            Step::NicenessAttached => "niceness-attached",
            Step::StatePinned => "state-pinned",
            Step::StateRemoved => "state-removed",
            Step::LinksRemoved => "links-removed",
            Step::PinsRemoved => "pins-removed",
            Step::CgroupsRemoved => "cgroups-removed",
            Step::BpffsUnmounted => "bpffs-unmounted",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
