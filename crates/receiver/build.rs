// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Compiles the receiver's eBPF object, its cores for the host, and turns the C tables into Rust ones.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use libbpf_cargo::SkeletonBuilder;
use netnice_build::fail;

fn main() {
    let (out, repo) = (netnice_build::out(), netnice_build::repository());
    let clang = netnice_build::clang();
    netnice_build::watch(&["algorithms", "transport", "crates/receiver/src/cores.c"]);
    for name in ["receiver", "adopted"] {
        compile(&repo, &out, &clang, name);
    }
    generate_table(&repo, &out);
    cc::Build::new()
        .compiler(&clang)
        .file("src/cores.c")
        .include(repo.join("algorithms/receiver"))
        .flags(["-Wall", "-Wextra", "-Werror"])
        .flags(["-fsanitize=undefined", "-fsanitize-trap=undefined"])
        .compile("netnice_receiver_cores");
}

/// The object depends on its sources only: uapi headers, no kernel types, no build paths.
fn compile(repo: &Path, out: &Path, clang: &OsString, name: &str) {
    let source = repo.join(format!("transport/receiver/{name}.bpf.c"));
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
        .obj(out.join(format!("{name}.bpf.o")))
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

fn generate_table(repo: &Path, out: &Path) {
    let rows = "#define P(n, u, w) Parameter { name: #n, unit: u, why: w },\n\
                #define A(n, c, ...) Algorithm { name: #n, core: #c, about: heads::c, \
                defaults: &[__VA_ARGS__] },\n\
                pub const PARAMETERS: &[Parameter] = &[NN_RECEIVER_PARAMS(P)];\n\
                pub const ALGORITHMS: &[Algorithm] = &[NN_RECEIVERS(A)];\n";
    let algorithms = repo.join("algorithms/receiver");
    let heads = netnice_build::heads(&algorithms, "NN_RECEIVERS");
    let table = netnice_build::expand(&algorithms, rows);
    fs::write(out.join("table.rs"), heads + &table).expect("write table.rs");
}
