// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! From facts to findings: what netnice needs, whether it is there, why it matters and what to do.

use crate::facts::{congestion_controls, Facts, Release};
use crate::group::Group;
use crate::live::RECEIVING;
use crate::niceness;
use crate::shared::NN_CLAMP_OF_SCALE;
use crate::sockets::Flow;

pub use crate::error::{Finding, Verdict};

/// Pinned struct_ops links came with it.
pub const OLDEST: Release = Release(6, 4);

/// For which users netnice works now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Works {
    /// Nothing is loaded.
    ForNone,
    ForRoot,
    ForAll,
}

impl Works {
    pub fn now() -> Self {
        let registered = congestion_controls().unwrap_or_default();
        match registered.iter().any(|name| Group::level_of(name).is_some()) {
            true if niceness::answers() => Self::ForAll,
            true => Self::ForRoot,
            false => Self::ForNone,
        }
    }
}

/// Every check, in the order to mend things.
pub fn findings(facts: &Facts, works: Works) -> Vec<Finding> {
    vec![
        kernel(facts),
        type_information(facts),
        registration(facts),
        jit(facts),
        cgroup2(facts),
        bpffs(facts),
        capabilities(facts, works),
        root_of_cgroups(facts, works),
        live(facts),
        live_receiving(facts),
        memlock(facts),
        window_scale(facts),
        router(),
    ]
}

/// Only what stands in the way of up.
pub fn missing(facts: &Facts) -> Vec<Finding> {
    let mut all = findings(facts, Works::ForNone);
    all.retain(is_missing);
    all
}

fn is_missing(finding: &Finding) -> bool {
    finding.verdict == Verdict::Missing
}

/// What they come to, in a line.
pub fn summary(findings: &[Finding], works: Works) -> String {
    let missing = findings.iter().filter(|f| is_missing(f));
    let missing: Vec<_> = missing.map(|finding| finding.name).collect();
    match (&*missing, works) {
        ([], Works::ForAll) => "netnice is loaded, and 'netnice COMMAND' works for this user.".to_owned(),
        ([], Works::ForRoot) => "netnice is loaded, but works for root alone: 'netnicectl status' says why.".to_owned(),
        ([], Works::ForNone) => "All that netnice needs is there. To load it: 'netnicectl up'.".to_owned(),
        ([ROOT], Works::ForNone) => {
            "All else that netnice needs is there. To load it: 'sudo netnicectl up'.".to_owned()
        }
        ([ROOT], _) => "netnice is loaded, but works for root alone: 'sudo netnicectl status' says why.".to_owned(),
        (all, _) => format!(
            "netnice cannot run here without what is MISSING: {}. Begin with the first.",
            all.join(", ")
        ),
    }
}

const ROOT: &str = "root";

fn finding(name: &'static str, why: &'static str, verdict: Verdict, state: String, remedy: &str) -> Finding {
    Finding {
        name,
        verdict,
        state,
        why,
        remedy: remedy.to_owned(),
    }
}

fn kernel(facts: &Facts) -> Finding {
    let check = |verdict, state, remedy: &str| {
        let why = "Congestion control in eBPF that outlives its loader needs Linux 6.4.";
        finding("kernel", why, verdict, state, remedy)
    };
    match facts.release {
        Some(r) if r >= OLDEST => check(Verdict::Ok, format!("Linux {r}."), ""),
        Some(r) => check(
            Verdict::Missing,
            format!("Linux {r} is too old."),
            "boot Linux 6.4 or newer; on Debian 12: apt install -t bookworm-backports linux-image-amd64. \
             The package netnice-dkms has the senders alone for this kernel.",
        ),
        None => check(
            Verdict::Missing,
            "The version cannot be read.".into(),
            "mount /proc: mount -t proc proc /proc.",
        ),
    }
}

fn type_information(facts: &Facts) -> Finding {
    let why = "The eBPF programs are fitted to the running kernel with it.";
    match facts.types {
        Some(_) => finding(
            "BTF",
            why,
            Verdict::Ok,
            "/sys/kernel/btf/vmlinux is readable.".into(),
            "",
        ),
        None => finding(
            "BTF",
            why,
            Verdict::Missing,
            "/sys/kernel/btf/vmlinux is missing or unreadable.".into(),
            "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y (those of Debian, Ubuntu and Fedora are).",
        ),
    }
}

fn registration(facts: &Facts) -> Finding {
    let check = |verdict, state: String, remedy: &str| {
        let why = "netnice registers its algorithm with TCP and its policy with cgroups.";
        finding("registration", why, verdict, state, remedy)
    };
    let Some(types) = facts.types else {
        let remedy = "see BTF above; nothing else can be said without it.";
        return check(Verdict::Missing, "Unknown without BTF.".into(), remedy);
    };
    let rebuilt = "boot a kernel built with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and CONFIG_CGROUP_BPF.";
    match types.cong_control_args {
        _ if !types.tcp_struct_ops || !types.struct_ops_link => check(
            Verdict::Missing,
            "TCP takes no congestion control from eBPF.".into(),
            rebuilt,
        ),
        _ if !types.cgroup_bpf => check(Verdict::Missing, "cgroups take no eBPF programs.".into(), rebuilt),
        Some(args @ (2 | 4)) => check(
            Verdict::Ok,
            format!("TCP and cgroups take eBPF (cong_control with {args} arguments)."),
            "",
        ),
        other => check(
            Verdict::Missing,
            format!(
                "cong_control takes {} arguments.",
                other.map_or("unknown".to_owned(), |n| n.to_string())
            ),
            "this kernel is newer than this netnice: look for a newer netnice.",
        ),
    }
}

fn jit(facts: &Facts) -> Finding {
    let check = |verdict, state: &str, remedy: &str| {
        let why = "TCP calls compiled eBPF only.";
        finding("JIT", why, verdict, state.to_owned(), remedy)
    };
    match facts.jit {
        Some(0) => check(
            Verdict::Missing,
            "The eBPF compiler is off.",
            "sysctl -w net.core.bpf_jit_enable=1.",
        ),
        Some(_) => check(Verdict::Ok, "The eBPF compiler is on.", ""),
        None => check(
            Verdict::Note,
            "Not to be seen from here: the setting is hidden in all network namespaces but the first. \
             It is absent where the kernel has no eBPF compiler.",
            "if loading fails, boot a kernel built with CONFIG_BPF_JIT=y.",
        ),
    }
}

fn cgroup2(facts: &Facts) -> Finding {
    let check = |verdict, state: String, remedy: &str| {
        let why = "A command and its children are told apart from others by their cgroup v2 directory.";
        finding("cgroup v2", why, verdict, state, remedy)
    };
    match &facts.cgroup2 {
        Some(point) => check(Verdict::Ok, format!("Mounted at {}.", point.display()), ""),
        None if facts.cgroup1 => check(
            Verdict::Missing,
            "Only cgroup v1 is mounted.".into(),
            "mkdir -p /sys/fs/cgroup/unified && mount -t cgroup2 none /sys/fs/cgroup/unified; for good: boot with systemd.unified_cgroup_hierarchy=1.",
        ),
        None => check(Verdict::Missing, "Not mounted.".into(), "mount -t cgroup2 none /sys/fs/cgroup."),
    }
}

fn bpffs(facts: &Facts) -> Finding {
    let check = |verdict, state: &str, remedy: &str| {
        let why = "What is loaded stays loaded because it is pinned there; no daemon is needed.";
        finding("bpffs", why, verdict, state.to_owned(), remedy)
    };
    match (facts.bpffs_mounted, facts.bpffs_known) {
        (true, _) => check(Verdict::Ok, "Mounted at /sys/fs/bpf.", ""),
        (false, true) => check(
            Verdict::Note,
            "Not mounted at /sys/fs/bpf.",
            "nothing: 'netnicectl up' mounts it.",
        ),
        (false, false) => check(
            Verdict::Missing,
            "The kernel has no bpf file system.",
            "boot a kernel built with CONFIG_BPF_SYSCALL=y.",
        ),
    }
}

fn capabilities(facts: &Facts, works: Works) -> Finding {
    let why = "Loading eBPF programs for all TCP of the machine takes CAP_BPF, CAP_NET_ADMIN and CAP_SYS_ADMIN.";
    let lacking = facts.lacking();
    if lacking.is_empty() {
        return finding(ROOT, why, Verdict::Ok, "All capabilities are there.".into(), "");
    }
    let state = format!("Not there: {}.", lacking.join(", "));
    let (verdict, remedy) = match works {
        Works::ForAll => (
            Verdict::Note,
            "nothing, as netnice is loaded. To change what is loaded: sudo netnicectl …",
        ),
        _ => (Verdict::Missing, "run it as root: sudo netnicectl …"),
    };
    finding(ROOT, why, verdict, state, remedy)
}

fn root_of_cgroups(facts: &Facts, works: Works) -> Finding {
    let check = |verdict, state: String, remedy: &str| {
        let why = "Users without root use netnice by its eBPF programs there, beside those of others.";
        finding("root of the cgroups", why, verdict, state, remedy)
    };
    match &facts.holders {
        None if works == Works::ForAll => check(
            Verdict::Ok,
            "The eBPF programs of netnice are attached there.".into(),
            "",
        ),
        None => check(Verdict::Note, "Not to be seen without root.".into(), "run it as root."),
        Some(holders) if holders.is_empty() => check(Verdict::Ok, "No eBPF program there keeps others out.".into(), ""),
        Some(holders) => {
            let named: Vec<String> = holders.iter().map(ToString::to_string).collect();
            check(
                Verdict::Note,
                format!("Held by {}, which lets no other join: only root can use netnice.", named.join(", ")),
                "have its owner attach it with BPF_F_ALLOW_MULTI, or take it away ('bpftool cgroup detach'); then: netnicectl down, up.",
            )
        }
    }
}

fn live(facts: &Facts) -> Finding {
    let check = |verdict, state: &str, remedy: &str| {
        let why = "'netnice -p' reaches the connections that other processes have with it.";
        finding("CAP_SYS_PTRACE", why, verdict, state.to_owned(), remedy)
    };
    if facts.reaches_others() {
        return check(Verdict::Ok, "There.", "");
    }
    check(
        Verdict::Note,
        "Not there: only new connections of a process that is moved would change.",
        "run it as root; in a container, allow it this capability.",
    )
}

fn live_receiving(facts: &Facts) -> Finding {
    let check = |verdict, state: String, remedy: &str| {
        let why = "What a connection in use receives begins to yield with it ('netnice -p', applications).";
        finding("live receiving", why, verdict, state, remedy)
    };
    match facts.release {
        Some(r) if r >= RECEIVING => check(Verdict::Ok, format!("There since Linux {RECEIVING}."), ""),
        _ => check(
            Verdict::Note,
            format!("Not there: only new connections yield with what they receive before Linux {RECEIVING}."),
            "start programs with netnice, or boot a newer kernel.",
        ),
    }
}

/// Bytes: what a window can grow to in the units that netnice asks for.
const FINE: u64 = NN_CLAMP_OF_SCALE as u64;

const UNITS: &str =
    "A connection advertises windows in units that are fixed when it opens; large units hinder yielding.";

fn window_scale(facts: &Facts) -> Finding {
    let check = |verdict, state: String, remedy: &str| finding("window scale", UNITS, verdict, state, remedy);
    match facts.receive_buffer {
        None => check(
            Verdict::Note,
            "net.ipv4.tcp_rmem cannot be read.".into(),
            "mount /proc: mount -t proc proc /proc.",
        ),
        Some(most) if most > FINE => check(
            Verdict::Note,
            format!(
                "Large on connections that are opened without netnice: net.ipv4.tcp_rmem allows {} MiB.",
                most >> 20
            ),
            "start programs with netnice, which asks for small units; 'netnice -p' comes too late for that.",
        ),
        Some(most) => check(
            Verdict::Ok,
            format!("Small: net.ipv4.tcp_rmem allows {} KiB.", most >> 10),
            "",
        ),
    }
}

/// By what the lab shows of long flows (docs/research/lines.md).
fn router() -> Finding {
    let why = "Behind a router with a queue for each flow only a mark that it heeds puts netnice's traffic last.";
    let state =
        "Cannot be seen from here. CAKE with 'diffserv4' heeds the mark DSCP LE (in OpenWrt: the package sqm-scripts).";
    finding("router", why, Verdict::Ok, state.to_owned(), "")
}

/// Connections in the background that netnice cannot mend; none: there are none.
pub fn unmendable(flows: &[Flow]) -> Option<Finding> {
    let coarse = flows.iter().filter(|flow| flow.level().is_some() && flow.is_coarse());
    let named: Vec<String> = coarse
        .map(|flow| format!("{} - {} (scale {})", flow.local, flow.peer, flow.receive_scale))
        .collect();
    let first = named.first()?;
    let state = match named.len() {
        1 => format!("Large on {first}: what it receives yields badly."),
        _ => format!("Large on {}: what they receive yields badly.", named.join(", ")),
    };
    let remedy = "start their programs again, with netnice.";
    Some(finding("connections", UNITS, Verdict::Note, state, remedy))
}

fn memlock(facts: &Facts) -> Finding {
    let why = "Kernels before 5.11 charged eBPF maps to it; newer ones charge the memory cgroup.";
    let state = match facts.memlock {
        None => "Unlimited.".to_owned(),
        Some(bytes) => format!("{} KiB.", bytes / 1024),
    };
    finding("memlock", why, Verdict::Ok, state, "")
}

#[cfg(test)]
mod tests;
