// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One machine that is well, and each way of being unwell.

use super::*;
use crate::facts::TypeInfo;

fn well() -> Facts {
    Facts {
        release: Some(Release(6, 12)),
        types: Some(TypeInfo {
            cong_control_args: Some(4),
            tcp_struct_ops: true,
            struct_ops_link: true,
            cgroup_bpf: true,
        }),
        jit: Some(1),
        cgroup2: Some("/sys/fs/cgroup".into()),
        cgroup1: false,
        bpffs_known: true,
        bpffs_mounted: true,
        capabilities: u64::MAX,
        holders: Some(Vec::new()),
        memlock: Some(65536),
        receive_buffer: Some(6 << 20),
    }
}

/// The names of what is missing; each must come with a reason and a remedy.
fn names(facts: &Facts) -> Vec<&'static str> {
    let missing = missing(facts);
    assert!(missing.iter().all(|f| !f.why.is_empty() && !f.remedy.is_empty()));
    missing.iter().map(|f| f.name).collect()
}

fn with_types(change: impl FnOnce(&mut TypeInfo)) -> Facts {
    let mut facts = well();
    change(facts.types.as_mut().expect("well() has them"));
    facts
}

#[test]
fn a_healthy_machine_needs_nothing() {
    assert_eq!(names(&well()), [""; 0]);
    assert!(findings(&well(), Works::ForNone)
        .iter()
        .all(|f| f.verdict == Verdict::Ok && f.remedy.is_empty()));
}

#[test]
fn an_old_kernel() {
    assert_eq!(
        names(&Facts {
            release: Some(Release(6, 3)),
            ..well()
        }),
        ["kernel"]
    );
    assert_eq!(
        names(&Facts {
            release: Some(Release(5, 15)),
            ..well()
        }),
        ["kernel"]
    );
    assert_eq!(
        names(&Facts {
            release: None,
            ..well()
        }),
        ["kernel"]
    );
    assert_eq!(
        names(&Facts {
            release: Some(OLDEST),
            ..well()
        }),
        [""; 0]
    );
}

#[test]
fn an_older_kernel_is_told_what_it_cannot() {
    for (release, verdict) in [(Release(6, 11), Verdict::Note), (Release(6, 12), Verdict::Ok)] {
        let facts = Facts {
            release: Some(release),
            ..well()
        };
        let all = findings(&facts, Works::ForNone);
        let found = all.iter().find(|f| f.name == "live receiving");
        let found = found.expect("it is checked");
        assert_eq!(found.verdict, verdict, "{release}");
        assert_eq!(found.remedy.is_empty(), verdict == Verdict::Ok);
    }
}

#[test]
fn no_btf() {
    assert_eq!(names(&Facts { types: None, ..well() }), ["BTF", "registration"]);
}

#[test]
fn a_kernel_built_without_the_hooks() {
    assert_eq!(names(&with_types(|t| t.tcp_struct_ops = false)), ["registration"]);
    assert_eq!(names(&with_types(|t| t.struct_ops_link = false)), ["registration"]);
    assert_eq!(names(&with_types(|t| t.cgroup_bpf = false)), ["registration"]);
}

#[test]
fn both_signatures_are_known_and_no_third() {
    assert_eq!(names(&with_types(|t| t.cong_control_args = Some(2))), [""; 0]);
    assert_eq!(names(&with_types(|t| t.cong_control_args = Some(3))), ["registration"]);
    assert_eq!(names(&with_types(|t| t.cong_control_args = None)), ["registration"]);
}

#[test]
fn no_jit() {
    assert_eq!(names(&Facts { jit: Some(0), ..well() }), ["JIT"]);
    assert_eq!(
        names(&Facts { jit: None, ..well() }),
        [] as [&str; 0],
        "a container's network namespace hides it"
    );
}

#[test]
fn cgroup_v1_only() {
    let facts = Facts {
        cgroup2: None,
        cgroup1: true,
        ..well()
    };
    assert_eq!(names(&facts), ["cgroup v2"]);
    assert!(missing(&facts)[0].state.contains("v1"));
    assert_eq!(
        names(&Facts {
            cgroup2: None,
            ..well()
        }),
        ["cgroup v2"]
    );
}

#[test]
fn an_unmounted_bpffs_is_no_obstacle() {
    let facts = Facts {
        bpffs_mounted: false,
        ..well()
    };
    assert_eq!(names(&facts), [""; 0]);
    assert!(findings(&facts, Works::ForNone)
        .iter()
        .any(|f| f.name == "bpffs" && f.verdict == Verdict::Note));
    assert_eq!(
        names(&Facts {
            bpffs_known: false,
            ..facts
        }),
        ["bpffs"]
    );
}

#[test]
fn no_root() {
    let facts = Facts {
        capabilities: 0,
        ..well()
    };
    assert_eq!(names(&facts), ["root"]);
    assert!(missing(&facts)[0]
        .state
        .contains("CAP_BPF, CAP_NET_ADMIN, CAP_SYS_ADMIN"));
    assert_eq!(
        names(&Facts {
            capabilities: !(1 << 39),
            ..well()
        }),
        ["root"]
    );
}

#[test]
fn somebody_alone_at_the_root() {
    let holder = crate::error::Holder {
        hook: "sock_ops",
        id: 7,
        program: "holder".into(),
    };
    let facts = Facts {
        holders: Some(vec![holder]),
        ..well()
    };
    assert_eq!(names(&facts), [""; 0], "root can use it");
    let found = findings(&facts, Works::ForNone);
    let found = found.iter().find(|f| f.name == "root of the cgroups");
    let found = found.expect("it is checked");
    assert_eq!(found.verdict, Verdict::Note);
    assert!(found.state.contains("'holder' (eBPF program 7, sock_ops)"));
}

#[test]
fn large_units_of_windows_are_told() {
    let told = |most| {
        let facts = Facts {
            receive_buffer: most,
            ..well()
        };
        let found = findings(&facts, Works::ForNone)
            .into_iter()
            .find(|f| f.name == "window scale");
        found.expect("it is checked").verdict
    };
    assert_eq!(told(Some(6 << 20)), Verdict::Ok);
    assert_eq!(told(Some(1 << 30)), Verdict::Note);
    assert_eq!(told(None), Verdict::Note);
    assert!(unmendable(&[]).is_none());
}

#[test]
fn without_root_one_that_is_loaded_is_enough() {
    let user = Facts {
        capabilities: 0,
        holders: None,
        ..well()
    };
    for (works, is_enough, line) in [
        (Works::ForAll, true, "'netnice COMMAND' works for this user."),
        (
            Works::ForRoot,
            false,
            "works for root alone: 'sudo netnicectl status' says why.",
        ),
        (Works::ForNone, false, "All else that netnice needs is there."),
    ] {
        let all = findings(&user, works);
        assert_eq!(!all.iter().any(is_missing), is_enough, "{works:?}");
        assert!(
            summary(&all, works).contains(line),
            "{works:?}: {}",
            summary(&all, works)
        );
    }
    assert_eq!(names(&user), ["root"], "loading takes it");
}

#[test]
fn the_last_line() {
    let said = |facts: &Facts, works| summary(&findings(facts, works), works);
    assert!(said(&well(), Works::ForNone).ends_with("'netnicectl up'."));
    assert!(said(&well(), Works::ForRoot).contains("'netnicectl status' says why"));
    let old = Facts {
        release: Some(Release(6, 3)),
        types: None,
        capabilities: 0,
        ..well()
    };
    assert!(said(&old, Works::ForNone).contains(": kernel, BTF, registration, root. "));
}
