// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The synopsis of a manual page, with the values of options.

use clap::{Arg, Command};
use clap_mangen::roff::{bold, italic, roman, Inline, Roff};

/// As man-pages(7) has it: what is typed is bold, what is replaced is italic, what may be left out is in brackets.
/// A command that writes its usage itself has that, line by line.
pub fn synopsis(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    if let Some(usage) = command.get_overridden_usage() {
        for (number, line) in usage.to_string().lines().enumerate() {
            if number > 0 {
                roff.control("br", []);
            }
            roff.text([roman(line.trim())]);
        }
        return roff;
    }
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut line = vec![bold(name)];
    let shown = |arg: &&Arg| !arg.is_hide_set();
    for option in command.get_opts().chain(flags(command)).filter(shown) {
        part(&mut line, option.is_required_set(), |line| named(line, option));
    }
    for argument in command.get_positionals().filter(shown) {
        part(&mut line, argument.is_required_set(), |line| {
            line.push(values(argument))
        });
    }
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        part(&mut line, command.is_subcommand_required_set(), |line| {
            line.push(italic("COMMAND"));
        });
    }
    roff.text(line);
    roff
}

fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_flag = |arg: &&Arg| !arg.is_positional() && !arg.get_action().takes_values();
    command.get_arguments().filter(is_flag)
}

fn part(line: &mut Vec<Inline>, required: bool, what: impl FnOnce(&mut Vec<Inline>)) {
    let (open, close) = if required { (" ", "") } else { (" [", "]") };
    line.push(roman(open));
    what(line);
    line.push(roman(close));
}

fn named(line: &mut Vec<Inline>, option: &Arg) {
    let short = option.get_short().map(|short| format!("-{short}"));
    let long = option.get_long().map(|long| format!("--{long}"));
    for (number, name) in short.into_iter().chain(long).enumerate() {
        if number > 0 {
            line.push(roman("|"));
        }
        line.push(bold(name));
    }
    if option.get_action().takes_values() {
        line.push(roman(" "));
        line.push(values(option));
    }
}

fn values(arg: &Arg) -> Inline {
    let names = arg.get_value_names().unwrap_or_default();
    let most = arg.get_num_args().map_or(1, |number| number.max_values());
    let dots = if most > names.len().max(1) { "..." } else { "" };
    match names {
        [] => italic(format!("{}{dots}", arg.get_id())),
        _ => italic(names.join(" ") + dots),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: Command) -> String {
        let mut command = command;
        command.build();
        synopsis(&command).render().replace("\\-", "-")
    }

    fn below(name: &str) -> String {
        let mut program = netnicectl::command();
        program.build();
        let command = program.find_subcommand(name).expect("it has that command");
        synopsis(command).render().replace("\\-", "-")
    }

    #[test]
    fn an_option_with_a_value_has_it() {
        let try_ = below("try");
        assert!(try_.contains("[\\fB--for\\fR \\fISECONDS\\fR]"), "{try_}");
        assert!(
            try_.contains("[\\fB--json\\fR]") && try_.contains("\\fIURL\\fR"),
            "{try_}"
        );
        let attach = below("attach");
        let path = of(netnice_path::command());
        assert!(path.contains("[\\fB--between\\fR \\fIA B\\fR]"), "{path}");
        assert!(path.contains("\\fICOMMAND...\\fR"), "{path}");
        assert!(
            attach.contains("[\\fB-n\\fR|\\fB--level\\fR \\fILEVEL\\fR]"),
            "{attach}"
        );
    }

    #[test]
    fn what_a_command_writes_itself_stays() {
        assert!(of(netnice::command()).contains("netnice [OPTIONS] -p PID..."));
    }

    #[test]
    fn every_argument_is_there_once() {
        for program in crate::programs()
            .into_iter()
            .filter(|one| one.get_overridden_usage().is_none())
        {
            let shown = program.get_arguments().filter(|arg| !arg.is_hide_set()).cloned();
            let shown: Vec<Arg> = shown.collect();
            let text = of(program);
            for long in shown.iter().filter_map(Arg::get_long) {
                assert_eq!(text.matches(&format!("--{long}\\fR")).count(), 1, "{long}: {text}");
            }
        }
    }
}
