// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the build scripts share, each as a module of its own: the compiler, the watched C sources, and C's declarations
//! and output for Rust.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

/// The clang that compiles everything: `$CLANG`, else the one that Debian 12 has.
pub fn clang() -> OsString {
    println!("cargo:rerun-if-env-changed=CLANG");
    env::var_os("CLANG").unwrap_or_else(|| OsString::from("clang-16"))
}

/// The folder that cargo gives this build script to write to.
pub fn out() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"))
}

/// The root of the clone whose crate is built.
pub fn repository() -> PathBuf {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    manifest.join("../..").canonicalize().expect("repository root")
}

/// Runs the build script again when one of these files or folders of the repository changes.
///
/// Paths are absolute: they differ when another clone has used the same target folder. cargo then runs the script again,
/// even if this clone's files are older than what the other one built.
pub fn watch(paths: &[&str]) {
    for path in paths.iter().map(|path| repository().join(path)) {
        assert!(path.exists(), "{} is watched, but does not exist", path.display());
        println!("cargo:rerun-if-changed={}", path.display());
    }
}

/// What `statements` print: C that uses the macros of `table.h` in this folder. The compiler evaluates it, so a value may
/// be any expression of the headers.
pub fn tell(tables: &Path, statements: &str) -> String {
    let (stub, program) = (out().join("table.c"), out().join("table"));
    let text = format!("#include \"table.h\"\n#include <stdio.h>\nint main(void)\n{{\n{statements}\nreturn 0;\n}}\n");
    fs::write(&stub, text).expect("write table.c");
    let clang = clang();
    let built = Command::new(&clang)
        .arg("-I")
        .args([tables, &stub])
        .arg("-o")
        .arg(&program)
        .output();
    match built {
        Ok(o) if o.status.success() => {}
        Ok(o) => fail(&format!(
            "cannot read {}/table.h: {}",
            tables.display(),
            String::from_utf8_lossy(&o.stderr)
        )),
        Err(e) => fail(&format!(
            "cannot run {}: {e}. Install it (Debian: apt install clang-16) or set CLANG=PATH.",
            Path::new(&clang).display()
        )),
    }
    let run = Command::new(&program).output().expect("run what was compiled");
    String::from_utf8(run.stdout).expect("the tables are plain text")
}

/// Layouts, constants and functions of C, for Rust: all declarations in `includes` whose names match one of the patterns.
/// `includes` are lines of `#include`, relative to the root of the clone.
pub fn bindings(includes: &str, names: &[&str]) -> String {
    let repository = repository();
    let mut builder = bindgen::builder()
        .header_contents("shared.h", includes)
        .clang_arg(format!("-I{}", repository.display()))
        .clang_arg(format!("-I{}", repository.join("algorithms").display()))
        .use_core()
        .layout_tests(true)
        .derive_default(true)
        .derive_eq(true)
        .prepend_enum_name(false)
        .default_macro_constant_type(bindgen::MacroTypeVariation::Signed);
    for name in names {
        builder = builder.allowlist_item(name);
    }
    match builder.generate() {
        Ok(bindings) => bindings.to_string(),
        Err(e) => fail(&format!("cannot read the layouts of {includes}: {e}")),
    }
}

/// Ends the build, saying why.
pub fn fail(why: &str) -> ! {
    let _ = writeln!(std::io::stderr(), "netnice: {why}");
    exit(1);
}
