// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The first use after a start loads netnice.

use netnice_loader::cgroup::Hierarchy;
use netnice_loader::facts::privileged;
use netnice_loader::group::Group;
use netnice_loader::{is_up, kernel, rules, up, Outcome, UpOptions};
use netnice_output::complain;

use crate::Error;

/// Sees to it that the group is there and does something.
pub(crate) fn load(target: Group) -> Result<(), Error> {
    if privileged() {
        if !is_up(&Hierarchy::find()?, target)
            && up(&UpOptions::default(), &mut |_| ())? != Outcome::AlreadyUp
        {
            complain(
                "netnice",
                "loaded into the kernel, for the first time since it started ('netnicectl down' unloads it)",
            );
            if let Err(why) = rules::apply_file() {
                complain("netnice", why);
            }
        }
    } else if !kernel::congestion_controls()?.contains(&target.congestion_control()) {
        return Err(Error::NotLoaded);
    }
    Ok(())
}
