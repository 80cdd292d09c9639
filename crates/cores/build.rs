// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Compiles the very files that ship, with undefined behaviour turned into a trap: a test that meets any dies. The
//! names of algorithms and parameters come from the same files, by the preprocessor.

use std::fs;
use std::path::Path;

#[path = "../build/c.rs"]
mod c;

fn main() {
    let algorithms = c::repository().join("algorithms");
    let receivers = algorithms.join("receiver");
    c::watch(&["algorithms", "crates/cores/src"]);
    for file in ["cores", "receivers", "niceness"] {
        compile(file, &algorithms);
    }
    let enums = "nn_(ack_flags|phase|recovery|replay_event)";
    declare("cores", &["nn_core_.*", "nn_defaults", "NN_REPLAY_FLOWS", enums]);
    declare("receivers", &["nn_host_.*", "nn_wish"]);
    let rows = "#define P(name, ...) puts(\"row param \" #name);\n\
                #define A(name, ...) puts(\"row algorithm \" #name);\n\
                NN_PARAMS(P)\nNN_ALGORITHMS(A)";
    let rows = c::tell(&algorithms.join("sender"), rows);
    fs::write(c::out().join("table.rs"), table(&rows)).expect("write table.rs");
    let rows = r##"static const u32 rows[][NN_RECEIVER_PARAM_COUNT] = NN_RECEIVER_ROWS;
#define P(n, ...) puts("\"" #n "\",");
#define A(n, c, ...) puts("Algorithm { name: \"" #n "\", core: \"" #c "\", defaults: &["); \
for (int i = 0; i < NN_RECEIVER_PARAM_COUNT; i++) printf("%u, ", rows[NN_RA_##n][i]); puts("] },");
puts("pub const PARAMETERS: &[&str] = &["); NN_RECEIVER_PARAMS(P) puts("];");
puts("pub const ALGORITHMS: &[Algorithm] = &["); NN_RECEIVERS(A) puts("];");"##;
    let rows = c::tell(&receivers, rows);
    fs::write(c::out().join("receivers.rs"), rows).expect("write receivers.rs");
}

fn compile(file: &str, include: &Path) {
    cc::Build::new()
        .compiler(c::clang())
        .file(format!("src/{file}.c"))
        .include(include)
        .flags(["-Wall", "-Wextra", "-Werror"])
        .flags(["-fsanitize=undefined", "-fsanitize-trap=undefined"])
        .compile(&format!("netnice_{file}"));
}

/// What a file declares under these names, for Rust.
fn declare(file: &str, names: &[&str]) {
    let include = format!("#include \"crates/cores/src/{file}.c\"\n");
    let to = c::out().join(format!("{file}_c.rs"));
    fs::write(to, c::bindings(&include, names)).expect("write what C declares");
}

/// The enums of parameters and algorithms.
fn table(rows: &str) -> String {
    let words: Vec<&str> = rows.split_whitespace().collect();
    let of = |kind: &str| -> Vec<String> {
        words
            .windows(3)
            .filter(|w| w[0] == "row" && w[1] == kind)
            .map(|w| camel(w[2]))
            .collect()
    };
    let (params, algorithms) = (of("param"), of("algorithm"));
    assert!(!params.is_empty() && !algorithms.is_empty(), "the tables have no rows");
    format!(
        "/// The parameters, in the order of `NN_PARAMS` in `algorithms/common/params.h`.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq)]\n#[repr(usize)]\npub enum Param {{ {} }}\n\
         /// The rows of `algorithms/sender/table.h`.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq)]\n#[repr(u32)]\npub enum Algorithm {{ {} }}\n\
         pub const PARAMS: usize = {};\npub const ALGORITHMS: usize = {};\n\
         impl Algorithm {{\n/// Every row, in order.\npub const ALL: [Algorithm; ALGORITHMS] = [{}];\n}}\n",
        params.join(", "),
        algorithms.join(", "),
        params.len(),
        algorithms.len(),
        algorithms
            .iter()
            .map(|a| format!("Algorithm::{a}"))
            .collect::<Vec<_>>()
            .join(", ")
    )
}

/// `min_window` is MinWindow; `nnreno` is Reno, the lab's own beside the kernel's.
fn camel(name: &str) -> String {
    let own = name.strip_prefix("nn").unwrap_or(name);
    own.split('_')
        .map(|word| word[..1].to_uppercase() + &word[1..])
        .collect()
}
