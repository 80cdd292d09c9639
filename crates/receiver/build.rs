// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Compiles the receiver's eBPF object, its cores for the host, and turns the C tables into Rust ones.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

use libbpf_cargo::SkeletonBuilder;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let repo = manifest
        .join("../..")
        .canonicalize()
        .expect("repository root");
    let clang = env::var_os("CLANG").unwrap_or_else(|| OsString::from("clang-16"));
    println!("cargo:rerun-if-env-changed=CLANG");
    for watched in [
        "algorithms/types.h",
        "algorithms/receiver",
        "transport/receiver",
        "crates/receiver/src/cores.c",
    ] {
        println!("cargo:rerun-if-changed={}", repo.join(watched).display());
    }
    compile(&repo, &out, &clang);
    generate_table(&repo, &out, &clang);
    cc::Build::new()
        .compiler(&clang)
        .file("src/cores.c")
        .include(repo.join("algorithms/receiver"))
        .flags(["-Wall", "-Wextra", "-Werror"])
        .flags(["-fsanitize=undefined", "-fsanitize-trap=undefined"])
        .compile("netnice_receiver_cores");
}

/// The object depends on its sources only: uapi headers, no kernel types, no build paths.
fn compile(repo: &Path, out: &Path, clang: &OsString) {
    let source = repo.join("transport/receiver/receiver.bpf.c");
    let mut mapped = OsString::from("-ffile-prefix-map=");
    mapped.push(repo);
    mapped.push("=netnice");
    let mut args = vec![mapped];
    args.extend(["-ffreestanding", "-mcpu=v3", "-Wall", "-Wextra", "-Werror"].map(OsString::from));
    if let Some(include) = multiarch() {
        args.push(OsString::from(format!("-I{include}")));
    }
    let built = SkeletonBuilder::new()
        .source(&source)
        .obj(out.join("receiver.bpf.o"))
        .clang(clang)
        .clang_args(args)
        .build();
    if let Err(e) = built {
        fail(&format!("cannot compile {}: {e:#}", source.display()));
    }
}

/// Where Debian keeps asm/types.h.
fn multiarch() -> Option<String> {
    let machine = env::var("CARGO_CFG_TARGET_ARCH").ok()?;
    let path = format!("/usr/include/{machine}-linux-gnu");
    Path::new(&path).exists().then_some(path)
}

fn generate_table(repo: &Path, out: &Path, clang: &OsString) {
    const MARK: &str = "netnice_table_begins";
    let stub = out.join("table.c");
    let rust = format!(
        "#include \"table.h\"\n{MARK}\n\
         #define P(n, u, w) Parameter {{ name: #n, unit: u, why: w }},\n\
         #define A(n, c, ...) Algorithm {{ name: #n, defaults: &[__VA_ARGS__] }},\n\
         pub const PARAMETERS: &[Parameter] = &[NN_RECEIVER_PARAMS(P)];\n\
         pub const ALGORITHMS: &[Algorithm] = &[NN_RECEIVERS(A)];\n"
    );
    fs::write(&stub, rust).expect("write table.c");
    let run = Command::new(clang)
        .args(["-E", "-P", "-I"])
        .arg(repo.join("algorithms/receiver"))
        .arg(&stub)
        .output();
    let text = match run {
        Ok(o) if o.status.success() => String::from_utf8_lossy(&o.stdout).into_owned(),
        Ok(o) => fail(&format!(
            "cannot read algorithms/receiver/table.h: {}",
            String::from_utf8_lossy(&o.stderr)
        )),
        Err(e) => fail(&format!(
            "cannot run clang: {e}. Install clang-16 or set CLANG=PATH."
        )),
    };
    let table = text.split_once(MARK).expect("the mark is in the stub").1;
    fs::write(out.join("table.rs"), table).expect("write table.rs");
}

fn fail(why: &str) -> ! {
    eprintln!("netnice: {why}");
    exit(1);
}
