// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Without root, what is hidden is said.

use netnice_loader::group::Direction;

use super::*;

fn of_process(in_effect: Option<Group>, sees_attached: bool) -> OfProcess {
    OfProcess {
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
    }
}

fn process(in_effect: Option<Group>, sees_attached: bool) -> String {
    of_process(in_effect, sees_attached).to_string()
}

#[test]
fn a_process_of_the_foreground_has_a_next_step() {
    let mut plain = of_process(None, true);
    assert_eq!(plain.next_step(true), None, "it has no traffic of its own");
    plain.connections.insert("cubic".to_owned(), 1);
    let step = |process: &OfProcess, is_root| process.next_step(is_root).unwrap_or_default();
    assert!(step(&plain, true).ends_with("'sudo netnice -n 0 -p 4711'"));
    assert!(step(&plain, false).ends_with(": 'netnice -n 0 -p 4711'"));
    plain.network.untold = Some("another user's".to_owned());
    assert!(step(&plain, false).ends_with("'sudo netnice -n 0 -p 4711'"));
    plain.in_effect = Some(Group::new(0, true, Direction::Both));
    assert_eq!(plain.next_step(true), None);
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
