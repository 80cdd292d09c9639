// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Programs that start services, sessions or programs of others, which would be in the background with them.

use super::rule::Pattern;

/// Names as the kernel cuts them, and what such a program starts.
const LAUNCHERS: [(&str, &str); 23] = [
    ("podman", CONTAINERS),
    ("conmon", CONTAINERS),
    ("buildah", CONTAINERS),
    ("docker", CONTAINERS),
    ("dockerd", CONTAINERS),
    ("containerd", CONTAINERS),
    ("containerd-shim", CONTAINERS),
    ("crio", CONTAINERS),
    ("kubelet", CONTAINERS),
    ("steam", "games"),
    ("lutris", "games"),
    ("tmux", SESSIONS),
    ("screen", SESSIONS),
    ("sshd", SESSIONS),
    ("login", SESSIONS),
    ("apt", UPGRADES),
    ("apt-get", UPGRADES),
    ("unattended-upgr", UPGRADES),
    ("systemd", SERVICES),
    ("supervisord", SERVICES),
    ("cron", SERVICES),
    ("snapd", SERVICES),
    ("init", SERVICES),
];
const CONTAINERS: &str = "containers";
const SESSIONS: &str = "shells and all that users run in them";
const SERVICES: &str = "services";
const UPGRADES: &str = "services that an upgrade restarts";

/// Its downloads are by programs that it starts, so that `inherit = false` would leave them in the foreground.
fn remedy(what: &str) -> &'static str {
    match what {
        UPGRADES => "its downloads are by programs that it starts: name its unit, apt-daily*.service",
        _ => "to leave that in the foreground, write inherit = false",
    }
}

/// Letters of a name that a pattern must have: "a*" means no program in particular.
const TELLING: usize = 3;

/// That a rule for such programs, whose children inherit, names a launcher.
pub(super) fn warning(named: &Pattern) -> Option<String> {
    if named.to_string().trim_matches('*').len() < TELLING {
        return None;
    }
    let (name, what) = LAUNCHERS.iter().find(|(name, _)| named.matches(name))?;
    Some(format!(
        "'{name}' starts {what}, which would be in the background too: {}",
        remedy(what)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_is_warned_of_by_any_pattern_that_names_it() {
        for (pattern, word) in [
            ("podman", "containers"),
            ("dock*", "containers"),
            ("*mux", "shells"),
            ("steam", "games"),
            ("apt", "apt-daily*.service"),
        ] {
            let said = warning(&pattern.parse().expect("valid")).unwrap_or_default();
            assert!(said.contains(word), "{pattern}: {said}");
        }
        for pattern in ["curl", "restic", "rclone*", "pod", "a*", "*d"] {
            assert_eq!(warning(&pattern.parse().expect("valid")), None, "{pattern}");
        }
    }

    #[test]
    fn names_are_as_long_as_the_kernel_keeps_them() {
        assert!(LAUNCHERS.iter().all(|(name, _)| name.len() <= 15));
    }
}
