// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Manual pages. Those of commands come from their definitions: headings after the help ("Examples:") become sections.
//! The others are written by hand.

use std::io;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};
use clap_mangen::roff::{roman, Roff};
use clap_mangen::Man;

use crate::synopsis::synopsis;

/// A page's file and its text.
pub type Page = (String, Vec<u8>);

/// Pages that no command has.
pub fn written() -> [Page; 2] {
    [
        ("netnice.7".to_owned(), include_bytes!("../pages/netnice.7").into()),
        (
            "policy.toml.5".to_owned(),
            include_bytes!("../pages/policy.toml.5").into(),
        ),
    ]
}

/// The administrator's command and its subcommands are in section 8, the others in 1.
fn section(program: &str) -> &'static str {
    match program {
        "netnicectl" => "8",
        _ => "1",
    }
}

/// Where a command says nothing else.
const EXIT_STATUS: &str = "\
Exit status:
  0  done
  1  failed
  2  wrong command line";

/// What every page refers to.
const SEE_ALSO: [&str; 4] = ["netnice(1)", "policy.toml(5)", "netnice(7)", "netnicectl(8)"];

/// Pages of a program and its subcommands.
pub fn of_program(program: Command) -> Vec<Page> {
    let section = section(program.get_name());
    let source = format!("netnice {}", program.get_version().unwrap_or_default());
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .help("Print help")
        .action(ArgAction::Help);
    let program = program.disable_help_subcommand(true).disable_help_flag(true);
    let mut program = program.arg(help.global(true));
    program.build();
    of_command(&program, None, section, &source)
}

fn of_command(command: &Command, above: Option<&str>, section: &str, source: &str) -> Vec<Page> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let own = format!("{name}({section})");
    let text = rendered(command, &own, above, section, source).expect("memory has room");
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    let below = below.flat_map(|below| of_command(below, Some(&own), section, source));
    [(format!("{name}.{section}"), text)].into_iter().chain(below).collect()
}

fn rendered(command: &Command, own: &str, above: Option<&str>, section: &str, source: &str) -> io::Result<Vec<u8>> {
    let man = Man::new(described(command))
        .section(section)
        .source(source)
        .manual("netnice");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    synopsis(command).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    let after = [command.get_after_help(), command.get_after_long_help()];
    let mut text: Vec<String> = after.into_iter().flatten().map(ToString::to_string).collect();
    if !text.iter().any(|text| text.contains("Exit status:")) {
        text.push(EXIT_STATUS.to_owned());
    }
    let mut roff = Roff::new();
    text.iter().for_each(|text| sections(&mut roff, text));
    roff.control("SH", ["SEE ALSO"]);
    let others = SEE_ALSO.into_iter().filter(|page| *page != own && Some(*page) != above);
    let all: Vec<&str> = above.into_iter().chain(others).collect();
    roff.text([roman(all.join(", "))]);
    roff.to_writer(&mut page)?;
    Ok(page)
}

/// The description does not repeat what NAME says, if there is more.
fn described(command: &Command) -> Command {
    let text = |text: Option<&StyledStr>| text.map(ToString::to_string).unwrap_or_default();
    let (about, long) = (text(command.get_about()), text(command.get_long_about()));
    match long.strip_prefix(&about).and_then(|rest| rest.strip_prefix("\n\n")) {
        Some(rest) => command.clone().long_about(rest.to_owned()),
        None => command.clone(),
    }
}

/// A heading is not indented and ends in a colon. What follows it is printed line by line.
fn sections(roff: &mut Roff, text: &str) {
    let mut open = false;
    for line in text.lines() {
        match line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            Some(heading) => {
                if open {
                    roff.control("fi", []);
                }
                match heading.len() {
                    ..30 => roff.control("SH", [heading.to_uppercase().as_str()]),
                    _ => roff.control("SS", [heading]),
                };
                roff.control("nf", []);
                open = true;
            }
            None => {
                roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
            }
        }
    }
    if open {
        roff.control("fi", []);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<(String, String)> {
        let text = |(name, text)| (name, String::from_utf8(text).expect("text"));
        let generated = crate::programs().into_iter().flat_map(of_program);
        generated.chain(written()).map(text).collect()
    }

    #[test]
    fn every_command_has_a_page_with_its_exit_status() {
        for (name, text) in all() {
            assert!(
                text.contains(".SH \"SEE ALSO\"") || text.contains(".SH SEE ALSO"),
                "{name}"
            );
            let of_command = name.ends_with(".1") || name.ends_with(".8");
            let told = ["EXIT STATUS", "EXAMPLES"].iter().all(|section| text.contains(section));
            assert!(told || !of_command, "{name}: {text}");
        }
    }

    #[test]
    fn sections_of_the_manual() {
        let names: Vec<String> = all().into_iter().map(|(name, _)| name).collect();
        for name in [
            "netnice.1",
            "netnice.7",
            "netnice-path.1",
            "netnice-measure-run.1",
            "netnicectl.8",
            "netnicectl-policy-apply.8",
            "policy.toml.5",
        ] {
            assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
        }
        assert!(
            names
                .iter()
                .all(|name| name.starts_with("netnicectl") == name.ends_with(".8")),
            "{names:?}"
        );
    }

    #[test]
    fn headings_become_sections() {
        let mut roff = Roff::new();
        sections(
            &mut roff,
            "Exit status:\n  0  done\n\nA heading that is longer than a section's:\n  .x",
        );
        let text = roff.render();
        assert!(text.contains(".SH \"EXIT STATUS\"\n.nf\n0  done"), "{text}");
        assert!(text.contains(".SS \"A heading that is longer"), "{text}");
    }
}
