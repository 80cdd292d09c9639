// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Compiles the very files that ship, with undefined behaviour turned into a trap: a test that meets any dies.

fn main() {
    println!("cargo:rerun-if-changed=../../algorithms");
    println!("cargo:rerun-if-changed=src/cores.c");
    cc::Build::new()
        .compiler("clang-16")
        .file("src/cores.c")
        .include("../../algorithms")
        .flags(["-Wall", "-Wextra", "-Werror"])
        .flags(["-fsanitize=undefined", "-fsanitize-trap=undefined"])
        .compile("netnice_cores");
}
