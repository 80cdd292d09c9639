// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the build scripts share: the compiler they call, the C sources they watch, and the C tables they turn into Rust.

use std::env;
use std::ffi::OsString;
use std::fs;
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
    manifest
        .join("../..")
        .canonicalize()
        .expect("repository root")
}

/// Runs the build script again when one of these files or folders of the repository changes.
///
/// Absolute: when another clone has used the same target folder the paths differ, and cargo runs the script again
/// even if this clone's files are older than what the other one built.
pub fn watch(paths: &[&str]) {
    for path in paths.iter().map(|path| repository().join(path)) {
        assert!(
            path.exists(),
            "{} is watched, but does not exist",
            path.display()
        );
        println!("cargo:rerun-if-changed={}", path.display());
    }
}

/// What `statements`, C that uses the macros of `table.h` in this folder, print: asked of the compiler, so that a value may
/// be any expression of the headers.
pub fn tell(tables: &Path, statements: &str) -> String {
    let (stub, program) = (out().join("table.c"), out().join("table"));
    let text = format!(
        "#include \"table.h\"\n#include <stdio.h>\nint main(void)\n{{\n{statements}\nreturn 0;\n}}\n"
    );
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
    let run = Command::new(&program)
        .output()
        .expect("run what was compiled");
    String::from_utf8(run.stdout).expect("the tables are plain text")
}

/// The macros of one half's `table.h`: of its parameters, and of its algorithms.
pub struct Half {
    pub folder: &'static str,
    pub parameters: &'static str,
    pub algorithms: &'static str,
}

pub const SENDERS: Half = Half {
    folder: "algorithms/sender",
    parameters: "NN_PARAMS",
    algorithms: "NN_ALGORITHMS",
};

pub const RECEIVERS: Half = Half {
    folder: "algorithms/receiver",
    parameters: "NN_RECEIVER_PARAMS",
    algorithms: "NN_RECEIVERS",
};

/// One half's table in Rust: `PARAMETERS`, a `Parameter` a column, and `ALGORITHMS`, an `Algorithm` a row.
pub fn table(half: &Half) -> String {
    let tables = repository().join(half.folder);
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
    heads(&tables, half.algorithms) + &tell(&tables, &statements)
}

/// A module `heads` in Rust: for each core in this folder's table a constant of its name, what the head comment of its
/// file says it is, up to the first full stop. `list` is the table's macro; its rows begin with name and core.
fn heads(tables: &Path, list: &str) -> String {
    let rows = format!("#define CORE(name, core, ...) puts(#core);\n{list}(CORE)\n");
    let expanded = tell(tables, &rows);
    let mut cores: Vec<&str> = expanded.split_whitespace().collect();
    cores.sort_unstable();
    cores.dedup();
    let constants: String = cores
        .iter()
        .map(|core| {
            let file = tables.join(format!("{core}.h"));
            let text = fs::read_to_string(&file).unwrap_or_default();
            let about = head(&text)
                .unwrap_or_else(|| fail(&format!("{} has no head comment", file.display())));
            format!("    pub const {core}: &str = {about:?};\n")
        })
        .collect();
    format!("#[allow(non_upper_case_globals)]\nmod heads {{\n{constants}}}\n")
}

/// The first sentence of the comment that follows the licence's line.
fn head(text: &str) -> Option<String> {
    let (_, comment) = text.split_once("\n/*\n")?;
    let paragraph: Vec<&str> = comment
        .lines()
        .map(|line| line.trim_start_matches(" *").trim())
        .take_while(|line| !line.is_empty() && *line != "/")
        .collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph.split(". ").next()?.trim_end_matches('.');
    (!sentence.is_empty()).then(|| sentence.to_owned())
}

/// Layouts, constants and functions that C has, for Rust: of what `includes` (lines of `#include`, relative to the root of
/// the clone) declare, all whose names match one of the patterns.
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
    eprintln!("netnice: {why}");
    exit(1);
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn the_head_is_the_first_sentence_after_the_licence() {
        let file = "/* SPDX */\n/*\n * Nice (OSDI 2002), sections 2.2 and\n * 2.3. More.\n *\n * Else.\n */\n";
        assert_eq!(
            head(file).as_deref(),
            Some("Nice (OSDI 2002), sections 2.2 and 2.3")
        );
        assert_eq!(
            head("/* SPDX */\n/*\n * One.\n */\n").as_deref(),
            Some("One")
        );
        assert_eq!(head("/* SPDX */\n#define X\n"), None);
    }
}
