// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the command line takes, and what it refuses.

use super::*;

fn parse(words: &[&str]) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(["netnice"].iter().chain(words))
}

#[test]
fn a_command_keeps_its_own_options() {
    let cli = parse(&["-n", "1", "cmd", "-p", "2", "-n", "x"]).expect("valid");
    assert_eq!(cli.level, Some(LevelOption::Level(1)));
    assert!(cli.pid.is_empty());
    assert_eq!(cli.command.len(), 5);
}

#[test]
fn a_level_has_a_number_or_a_name() {
    for (word, level) in [("low", 0), ("lower", 1), ("lowest", 2), ("2", 2), ("-1", -1)] {
        let cli = parse(&["-n", word, "cmd"]).expect("valid");
        assert_eq!(cli.level, Some(LevelOption::Level(level)), "{word}");
    }
}

#[test]
fn processes_on_either_side() {
    for words in [["-n", "off", "-p", "1", "2"], ["-p", "1", "2", "-n", "off"]] {
        let cli = parse(&words).expect("valid");
        assert_eq!(cli.level, Some(LevelOption::Off));
        assert_eq!(cli.pid, [1, 2]);
    }
}

#[test]
fn a_deadline_is_a_time_or_a_duration() {
    let cli = parse(&["--for", "1h", "cmd", "--for"]).expect("valid");
    assert_eq!((cli.lasting, cli.until), (Some(Deadline::In(3600)), None));
    let cli = parse(&["--until", "08:00", "cmd"]).expect("valid");
    assert!(matches!(cli.until, Some(Deadline::At(_))));
}

#[test]
fn a_deadline_goes_with_the_other_options() {
    let words = ["--until", "08:00", "--self", "--report", "--json", "cmd", "--self"];
    let cli = parse(&words).expect("valid");
    assert!(cli.until.is_some() && cli.only_self && cli.report && cli.json);
    assert_eq!(cli.command.len(), 2);
}

#[test]
fn a_missing_level_names_the_levels() {
    for words in [&["-n"][..], &["cmd", "--level"], &["-p", "1", "-n"]] {
        let said = match parse(words) {
            Err(error) => error.to_string(),
            Ok(cli) => format!("{:?}", cli.command),
        };
        let expected = if words[0] == "cmd" {
            "--level"
        } else {
            "0, 1, 2, low, lower, lowest, off"
        };
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}

#[test]
fn help_tells_of_every_algorithm() {
    let help = command().render_long_help().to_string();
    for name in [
        "netnice",
        "netnice1",
        "netnice2",
        "nicer0",
        "nicer1",
        "nicer2",
        "tide",
        "vulture",
        "rledbat",
        "nnledbat",
        "nnledbatpp",
        "nnlp",
    ] {
        let line = help.lines().find(|l| l.split_whitespace().take(2).any(|w| w == name));
        assert!(line.is_some(), "{name}: {help}");
    }
}

#[test]
fn wrong_ones() {
    for words in [
        &["-n", "1"][..],
        &["-n", "high", "cmd"],
        &["-n"],
        &["-l", "cmd"],
        &["-l", "-p", "1"],
        &["--json"],
        &["-p"],
        &["-p", "0"],
        &["-p", "cmd"],
        &["-p", "4294967296"],
        &["-d", "-p", "1"],
        &["-d", "-n", "1", "cmd"],
        &["--no-mark"],
        &["--strict"],
        &["--self"],
        &["--report"],
        &["--report", "-p", "1"],
        &["--json", "cmd"],
        &["--self", "-p", "1", "-d", "-n", "0"],
        &["--strict", "-n", "1", "-p", "1"],
        &["--send-only", "--receive-only", "cmd"],
        &["--quic", "udp", "cmd"],
        &["--quic=tcp", "-n", "1", "-p", "1"],
        &["--until", "08:00"],
        &["--until", "soon", "cmd"],
        &["--for", "2h", "-n", "1", "-p", "1"],
        &["--for", "2h", "--until", "08:00", "cmd"],
    ] {
        assert!(parse(words).is_err(), "{words:?}");
    }
}
