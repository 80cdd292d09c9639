// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Nobody lowers somebody else's niceness: who may stop a connection from yielding.

use netnice_cores::receiver::Wish::{Application, Netnice, Nobody};

#[test]
fn an_application_takes_back_only_what_it_wished_itself() {
    assert!(Nobody.may_stop(false));
    assert!(Application.may_stop(false));
    assert!(!Netnice.may_stop(false));
}

#[test]
fn nobody_leaves_a_levels_cgroup_by_himself() {
    for wish in [Nobody, Application, Netnice] {
        assert!(!wish.may_stop(true), "{wish:?}");
    }
}

#[test]
fn asking_does_not_weaken_what_the_administrator_began() {
    assert_eq!(Nobody.and_application(), Application as u32);
    assert_eq!(Application.and_application(), Application as u32);
    assert_eq!(Netnice.and_application(), Netnice as u32);
}
