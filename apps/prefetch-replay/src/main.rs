// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
fn main() -> std::process::ExitCode {
    netnice_replay::main()
}
