// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Files of rules, right and wrong.

use super::*;

fn parse(text: &str) -> std::result::Result<Vec<Written>, String> {
    super::parse(text, Path::new("/sys/fs/cgroup/unified"))
}

fn means(text: &str) -> Vec<String> {
    let all = parse(&format!("[[rule]]\n{text}")).expect("valid");
    let rules = all.iter().flat_map(|written| &written.means);
    rules.map(Rule::to_string).collect()
}

#[test]
fn what_rules_mean() {
    assert_eq!(
        means("unit = 'restic*.service'\nlevel = 1"),
        ["units and cgroups named restic*.service: at level 1"]
    );
    assert_eq!(means("unit = 'a'\nlevel = 'lowest'"), means("unit = 'a'\nlevel = 2"));
    assert_eq!(
        means("cgroup = '/kubepods.slice/*'\ndirection = 'receive'\nmark = false"),
        ["cgroups /kubepods.slice/*: at level 0 unmarked receive only"]
    );
    assert_eq!(
        means("command = 'transmission-daemon'"),
        ["programs named transmission-da: at level 0"]
    );
    assert_eq!(
        means("command = 'brave'\nquic = 'tcp'"),
        ["programs named brave: at level 0, without QUIC"]
    );
    assert_eq!(
        means("unit = 'a'\nfrom = '18:00'\nuntil = '8:00'"),
        ["units and cgroups named a: at level 0, from 18:00 until 08:00"]
    );
    assert_eq!(
        means("command = 'podman'\ninherit = false"),
        ["programs named podman: at level 0, without what they start"]
    );
    assert_eq!(
        means("command = 'podman'\ninherit = false\nfrom = '18:00'\nuntil = '8:00'"),
        ["programs named podman: at level 0, without what they start, from 18:00 until 08:00"]
    );
    assert_eq!(means("container = '3f*'").len(), CONTAINERS.len());
    let long = means("container = '3fa0123456789*'");
    assert_eq!(long.len(), CONTAINERS.len() + 1);
    assert!(long[0].starts_with("units and cgroups named docker-3fa0123456789*.scope"));
}

#[test]
fn a_name_that_the_kernel_cuts_is_warned_of() {
    let warning = |command: &str| {
        let mut all = parse(&format!("[[rule]]\ncommand = '{command}'")).expect("valid");
        all.remove(0).warning
    };
    for whole in ["curl", "exactly-fifteen", "a*", "*-daemon"] {
        assert_eq!(warning(whole), None, "{whole}");
    }
    let said = warning("transmission-daemon").unwrap_or_default();
    assert!(
        said.contains("15 bytes") && said.contains("'transmission-da'"),
        "{said}"
    );
}

#[test]
fn a_launcher_whose_children_inherit_is_warned_of() {
    for (inherit, warned) in [("", true), ("inherit = true", true), ("inherit = false", false)] {
        let all = parse(&format!("[[rule]]\ncommand = 'podman'\n{inherit}")).expect("valid");
        assert_eq!(all[0].warning.is_some(), warned, "{inherit}");
    }
    let cut = parse("[[rule]]\ncommand = 'containerd-shim-runc-v2'").expect("valid");
    let said = cut[0].warning.as_deref().unwrap_or_default();
    assert!(
        said.contains("starts containers") && said.contains("15 bytes"),
        "{said}"
    );
}

#[test]
fn a_cgroup_may_be_written_with_its_mount_point() {
    for path in [
        "/a.slice/*",
        "/sys/fs/cgroup/a.slice/*",
        "/sys/fs/cgroup/unified/a.slice/*",
    ] {
        assert_eq!(means(&format!("cgroup = '{path}'")), ["cgroups /a.slice/*: at level 0"]);
    }
}

#[test]
fn a_unit_without_a_type_is_warned_of() {
    let warning = |text: &str| parse(text).expect("valid").remove(0).warning;
    let said = warning("[[rule]]\nunit = 'backup'").unwrap_or_default();
    assert!(said.contains("is 'backup.service' meant?"), "{said}");
    assert_eq!(warning("[[rule]]\nunit = 'backup.service'"), None);
}

#[test]
fn nothing_is_a_policy() {
    assert_eq!(parse("# none yet\n"), Ok(Vec::new()));
}

#[test]
fn lines() {
    let text = "\n# a\n[[rule]]\nunit = 'a'\n\n[[rule]]\nunit = 'b'\n";
    let lines: Vec<_> = parse(text).expect("valid").iter().map(|w| w.line).collect();
    assert_eq!(lines, [3, 6]);
}

#[test]
fn what_is_refused_says_where() {
    let container = format!("[[rule]]\ncontainer = '{}'", "a".repeat(108));
    let many = "[[rule]]\nunit = 'x'\n".repeat(NN_RULES as usize + 1);
    for (text, why) in [
        ("[[rule]]\n", "line 1: a rule names one of"),
        ("[[rule]]\nunit = 'a'\ncommand = 'b'", "line 3: a rule names one of"),
        ("[[rule]]\nunit = 'a'\ncommand = 'b'", "this one names 2"),
        ("\n[[rule]]\nunit = 'a'\nlevel = 3", "line 4: there is no level 3"),
        ("[[rule]]\nunit = 'a'\nlevel = 'high'", "expected a level: 0, 1, 2, "),
        ("[[rule]]\nunit = 'a*b*'", "line 2: 'a*b*': it has several '*'"),
        (
            "[[rule]]\nlevel = 1\nslice = 'a.service'",
            "line 3: 'a.service' is no slice",
        ),
        ("[[rule]]\ncgroup = 'a'", "does not begin with '/'"),
        ("[[rule]]\ncgroup = '/'", "line 2: '/' is the root of the cgroups"),
        ("[[rule]]\ncgroup = '/sys/fs/cgroup/unified'", "Name a cgroup below it"),
        ("[[rule]]\ncommand = 'a-very-long-one*name'", "15 bytes"),
        (
            "[[rule]]\ncommand = '/usr/bin/curl'",
            "Name the file without its folders: 'curl'",
        ),
        ("[[rule]]\ncommand = '*'", "line 2: '*' names every program"),
        ("[[rule]]\nunit = 'system.slice/a.service'", "write cgroup"),
        ("[[rule]]\nslice = '/a.slice'", "write cgroup"),
        ("[[rule]]\ncontainer = '/3f*'", "write cgroup"),
        (&container, "with what container engines write before an id"),
        ("[[rule]]\nunit = 'a'\nfrom = '18:00'", "line 3: a rule has both"),
        (
            "[[rule]]\nunit = 'a'\nfrom = '18:00'\nuntil = '8h'",
            "line 4: '8h' is no time of day",
        ),
        (
            "[[rule]]\nunit = 'a'\nfrom = '18h'\nuntil = '8:00'",
            "line 3: '18h' is no time of day",
        ),
        (
            "[[rule]]\nunit = 'a'\ninherit = false",
            "line 3: inherit is for rules with command",
        ),
        ("[[rule]]\nunits = 'a'", "unknown field `units`"),
        ("[[rule]]\nunit = 'a'\ndirection = 'up'", "unknown variant `up`"),
        ("[[rule]]\nunit = 'a'\nquic = 'udp'", "expected `tcp`"),
        ("rule = 1", "line 1"),
        (&many, "there is room for 64"),
    ] {
        let said = parse(text).expect_err(text);
        assert!(said.contains(why), "{text}: {said}");
    }
}

/// Files as a person or a program may write them: right, nearly right, and of any length and letters.
fn generated(random: &mut fastrand::Rng) -> String {
    const KEYS: [&str; 8] = [
        "unit",
        "slice",
        "container",
        "label",
        "cgroup",
        "command",
        "level",
        "units",
    ];
    const PIECES: [&str; 10] = [
        "a",
        "*",
        "/",
        ".slice",
        "é",
        "日",
        "?",
        "0123456789abcdef",
        " ",
        "docker-",
    ];
    const OTHERS: [&str; 10] = [
        "level = 2",
        "level = 4294967295",
        "mark = false",
        "direction = 'send'",
        "direction = 'receive'",
        "quic = 'tcp'",
        "inherit = false",
        "inherit = false\nfrom = '18:00'\nuntil = '08:00'",
        "mark = 1",
        "",
    ];
    let mut text = String::new();
    for _ in 0..random.usize(..4) {
        let pieces = match random.usize(..8) {
            0 => random.usize(..140),
            _ => random.usize(..8),
        };
        let value: String = (0..pieces).filter_map(|_| random.choice(PIECES)).collect();
        let start = if random.bool() { "/" } else { "" };
        let key = random.choice(KEYS).unwrap_or_default();
        let other = random.choice(OTHERS).unwrap_or_default();
        text += &format!("[[rule]]\n{key} = '{start}{value}'\n{other}\n");
    }
    text
}

/// Each is refused with a reason, or every rule of it reaches the kernel and comes back as it was.
#[test]
fn a_million_files() {
    const FILES: usize = 1_000_000;
    let mut random = fastrand::Rng::with_seed(34);
    let (mut held, mut refused) = (0, 0);
    for _ in 0..FILES {
        let text = generated(&mut random);
        let Ok(all) = parse(&text) else {
            refused += 1;
            continue;
        };
        for rule in all.into_iter().flat_map(|written| written.means) {
            assert_eq!(Rule::of_kernel(&rule.to_kernel()), Some(rule), "{text}");
        }
        held += 1;
    }
    assert!(held.min(refused) > FILES / 20, "{held} held, {refused} were refused");
}
