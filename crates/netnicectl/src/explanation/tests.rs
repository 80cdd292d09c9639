// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Without root, what is hidden is said.

use netnice_loader::group::Direction;

use super::*;

fn process(in_effect: Option<Group>, sees_attached: bool) -> String {
    let process = OfProcess {
        pid: 4711,
        program: "curl".to_owned(),
        own: in_effect,
        ends: None,
        alone: false,
        rules: Vec::new(),
        cgroup: Some("user.slice".into()),
        causes: Vec::new(),
        detached: Vec::new(),
        sees_attached,
        in_effect,
        floor: None,
        connections: BTreeMap::new(),
        network: OfNetwork::default(),
        senders: Vec::new(),
        receiving: None,
        yields: None,
    };
    process.to_string()
}

#[test]
fn what_is_closed_to_a_user_is_no_foreground() {
    let level1 = Group::new(1, true, Direction::Both);
    for (in_effect, shown) in [(None, "foreground"), (Some(level1), "1")] {
        let (root, user) = (process(in_effect, true), process(in_effect, false));
        assert!(
            root.contains(&format!("in effect        {shown}: what it opens")),
            "{root}"
        );
        assert!(!root.contains(UNSEEN), "{root}");
        assert!(
            user.contains(&format!("in effect        {shown}, as far as this user can see: ")),
            "{user}"
        );
        assert!(user.contains(UNSEEN), "{user}");
    }
    let cgroup = |sees_attached| OfCgroup {
        cgroup: "user.slice".into(),
        causes: Vec::new(),
        detached: Vec::new(),
        sees_attached,
        processes: Vec::new(),
    };
    assert!(cgroup(true).to_string().contains("in the foreground"));
    let user = cgroup(false).to_string();
    assert!(user.contains(UNSEEN) && !user.contains("in the foreground"), "{user}");
}
