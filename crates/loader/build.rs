// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Compiles the eBPF objects and embeds them.
//!
//! They need the kernel's own types. `vmlinux.h` is generated here from the BTF of the running kernel, or of the file
//! named by `NETNICE_VMLINUX_BTF` (raw BTF or an ELF vmlinux). The objects are relocated at load time
//! (CO-RE), so the kernel they are built against need not be the one they run on.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use libbpf_cargo::SkeletonBuilder;
use sha2::{Digest, Sha256};

#[path = "../build/c.rs"]
mod c;
#[path = "../build/head.rs"]
mod head;
use c::fail;

const RUNNING_KERNEL: &str = "/sys/kernel/btf/vmlinux";
/// A name and a source.
const OBJECTS: [(&str, &str); 9] = [
    ("sender", "transport/sender/bpf/sender.bpf.c"),
    ("replay", "transport/sender/bpf/replay.bpf.c"),
    ("policy", "transport/policy/policy.bpf.c"),
    ("niceness", "transport/policy/niceness.bpf.c"),
    ("quic", "transport/policy/quic.bpf.c"),
    ("waiting", "transport/policy/waiting.bpf.c"),
    ("receiver", "transport/receiver/receiver.bpf.c"),
    ("adopted", "transport/receiver/adopted.bpf.c"),
    ("option", "transport/receiver/option.bpf.c"),
];

fn main() {
    let (out, repo) = (c::out(), c::repository());
    c::watch(&["algorithms", "transport"]);
    generate_vmlinux_h(&out);
    let mut hash = Sha256::new();
    for (name, source) in OBJECTS {
        let object = out.join(format!("{name}.bpf.o"));
        compile(&repo, &out, &repo.join(source), &object);
        hash.update(fs::read(&object).expect("the object just built"));
    }
    println!("cargo:rustc-env=NETNICE_BUILD_ID={:x}", hash.finalize());
    for (file, half) in [("senders.rs", SENDERS), ("receivers.rs", RECEIVERS)] {
        fs::write(out.join(file), table(&half)).expect("write a table");
    }
    let shared = c::bindings(
        "#include \"transport/policy/before.h\"\n#include \"transport/policy/deadline.h\"\n#include \"transport/policy/floors.h\"\n#include \"algorithms/niceness/floor_call.h\"\n#include \"transport/policy/niceness.h\"\n#include \"transport/policy/waiting.h\"\n\
         #include \"transport/receiver/state.h\"\n\
         #include \"transport/receiver/wishes.h\"\n\
         #include \"algorithms/receiver/window.h\"\n",
        &[
            "policy_group",
            "policy_mark",
            "socket_before",
            "niceness_counters",
            "niceness_choices",
            "nn_niceness_bit",
            "nn_verb",
            "nn_deadline_.*",
            "NN_DEADLINE_.*",
            "timed",
            "floor",
            "nn_floor_.*",
            "NN_FLOOR_.*",
            "NN_GROUP_SHIFT",
            "NN_CALL_.*",
            "NICENESS_PROCESSES",
            "NICENESS_DEPTHS",
            "attached_bit",
            "quic_counters",
            "NN_QUIC_PORT",
            "waiting_choices",
            "waiting_counters",
            "WAITING_SOCKETS",
            "nn_rule",
            "nn_rule_subject",
            "NN_RULES",
            "NN_RULE_TEXT",
            "receiver_counters",
            "connection",
            "nn_wish",
            "NETNICE_RECEIVE",
            "NN_UNCLAMPED",
            "nn_most_clamp",
        ],
    );
    fs::write(out.join("shared.rs"), shared).expect("write shared.rs");
}

/// Writes OUT/vmlinux.h, or ends the build saying what is missing.
fn generate_vmlinux_h(out: &Path) {
    println!("cargo:rerun-if-env-changed=NETNICE_VMLINUX_BTF");
    println!("cargo:rerun-if-env-changed=BPFTOOL");
    let btf = env::var_os("NETNICE_VMLINUX_BTF").unwrap_or_else(|| OsString::from(RUNNING_KERNEL));
    if !Path::new(&btf).exists() {
        fail(&format!(
            "no kernel type information: {} does not exist.\n\
             The eBPF objects need it once, to build. Set NETNICE_VMLINUX_BTF=FILE to the BTF or vmlinux \
             of any Linux 6.4 or newer, for example a copy of another machine's {RUNNING_KERNEL}.",
            Path::new(&btf).display()
        ));
    }
    let bpftool = env::var_os("BPFTOOL").unwrap_or_else(|| OsString::from("bpftool"));
    let dump = Command::new(&bpftool)
        .args(["btf", "dump", "file"])
        .arg(&btf)
        .args(["format", "c"])
        .env(
            "PATH",
            format!("{}:/usr/sbin:/sbin", env::var("PATH").unwrap_or_default()),
        )
        .output();
    match dump {
        Ok(o) if o.status.success() => fs::write(out.join("vmlinux.h"), o.stdout).expect("write vmlinux.h"),
        Ok(o) => fail(&format!(
            "bpftool could not read {}: {}",
            Path::new(&btf).display(),
            String::from_utf8_lossy(&o.stderr).trim()
        )),
        Err(e) => fail(&format!(
            "cannot run {}: {e}. Install it (Debian: apt install bpftool) or set BPFTOOL=PATH.",
            Path::new(&bpftool).display()
        )),
    }
}

/// One object with clang; paths are mapped away so that the object depends on its sources only.
fn compile(repo: &Path, out: &Path, source: &Path, object: &Path) {
    let arg = |flag: &str, path: &Path| {
        let mut s = OsString::from(flag);
        s.push(path);
        s
    };
    let mapped = |path: &Path, to: &str| {
        let mut s = arg("-ffile-prefix-map=", path);
        s.push(format!("={to}"));
        s
    };
    let mut args = vec![
        arg("-I", out),
        arg("-I", repo),
        arg("-I", &repo.join("algorithms")),
        mapped(out, "build"),
        mapped(repo, "netnice"),
    ];
    args.extend(["-mcpu=v3", "-Wall", "-Wextra", "-Werror"].map(OsString::from));
    // BPF_PROG() and the kernel's operations tables give parameters that not every program uses.
    args.push(OsString::from("-Wno-unused-parameter"));
    if let Err(e) = SkeletonBuilder::new()
        .source(source)
        .obj(object)
        .clang(c::clang())
        .clang_args(args)
        .build()
    {
        fail(&format!("cannot compile {}: {e:#}", source.display()));
    }
}

/// The macros of one half's `table.h`: of its parameters, and of its algorithms.
struct Half {
    folder: &'static str,
    parameters: &'static str,
    algorithms: &'static str,
}

const SENDERS: Half = Half {
    folder: "algorithms/sender",
    parameters: "NN_PARAMS",
    algorithms: "NN_ALGORITHMS",
};

const RECEIVERS: Half = Half {
    folder: "algorithms/receiver",
    parameters: "NN_RECEIVER_PARAMS",
    algorithms: "NN_RECEIVERS",
};

/// One half's table in Rust: `PARAMETERS`, a `Parameter` a column, and `ALGORITHMS`, an `Algorithm` a row.
fn table(half: &Half) -> String {
    let tables = c::repository().join(half.folder);
    let statements = format!(
        r##"
#define P(n, u, least, most, w) printf("Parameter {{ name: \"%s\", unit: r#\"%s\"#, least: %u, most: %u, \
why: r#\"%s\"# }},\n", #n, u, (u32)(least), (u32)(most), w);
#define V(n, v) printf("(\"%s\", %u), ", #n, (u32)(v));
#define A(n, c, s, p) printf("Algorithm {{ name: \"%s\", core: \"%s\", about: heads::%s, shipped: %s, defaults: &[", \
#n, #c, #c, (s) ? "true" : "false"); p(V) puts("] }},");
puts("pub const PARAMETERS: &[Parameter] = &[");
{}(P)
puts("];\npub const ALGORITHMS: &[Algorithm] = &[");
{}(A)
puts("];");"##,
        half.parameters, half.algorithms
    );
    heads(&tables, half.algorithms) + &c::tell(&tables, &statements)
}

/// A module `heads` in Rust, with a constant for each core in this folder's table. It is the first sentence of the head
/// comment of the core's file. `list` is the table's macro; its rows begin with name and core.
fn heads(tables: &Path, list: &str) -> String {
    let rows = format!("#define CORE(name, core, ...) puts(#core);\n{list}(CORE)\n");
    let expanded = c::tell(tables, &rows);
    let mut cores: Vec<&str> = expanded.split_whitespace().collect();
    cores.sort_unstable();
    cores.dedup();
    let constants: String = cores
        .iter()
        .map(|core| {
            let file = tables.join(format!("{core}.h"));
            let text = fs::read_to_string(&file).unwrap_or_default();
            let about = head::head(&text).unwrap_or_else(|| fail(&format!("{} has no head comment", file.display())));
            format!("    pub const {core}: &str = {about:?};\n")
        })
        .collect();
    format!("#[allow(non_upper_case_globals)]\nmod heads {{\n{constants}}}\n")
}
