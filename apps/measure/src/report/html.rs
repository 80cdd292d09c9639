// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The report as one page that needs nothing else.

use std::fmt::Write;

use anyhow::Result;

use super::contents::Report;
use super::{figures, sentence};

const STYLE: &str = "\
body { font: 16px/1.5 sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
.answer { font-size: 1.25rem; font-weight: bold }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #ddd; text-align: right }
th:first-child, td:first-child { text-align: left }
svg { max-width: 100%; height: auto }";

/// The page.
pub fn page(report: &Report) -> Result<String> {
    let mut page = String::new();
    let host = escape(&report.host);
    write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>netnice-measure: {host}</title>\
         <style>{STYLE}</style></head><body>\n<h1>The path to {host}</h1>\n"
    )?;
    for sentence in report.sentences() {
        writeln!(page, "<p class=\"answer\">{}</p>", escape(&sentence))?;
    }
    writeln!(page, "<p>{}</p>", escape(&origin(report)))?;
    page += &rows(report);
    for direction in report.directions() {
        for (_, figure) in figures::both(report, direction) {
            writeln!(page, "<figure>{}</figure>", figures::svg(&figure)?)?;
        }
    }
    page += "<p>Intervals are of 95 % confidence. <i>Of alone</i>: of what the same primary gets with nothing beside it, or of \
             what the foreground gets. The call is 50 datagrams a second both ways; its p95 is the median of all measurements'.</p>\n\
             </body></html>\n";
    Ok(page)
}

fn origin(report: &Report) -> String {
    let times = report.measurements.iter().map(|m| m.at);
    let day =
        |time: Option<chrono::DateTime<_>>| time.map_or(String::new(), |t| t.format("%Y-%m-%d %H:%M").to_string());
    format!(
        "{} measurements from {} to {}; {} more failed.",
        report.measurements.len(),
        day(times.clone().min()),
        day(times.max()),
        report.failures
    )
}

fn rows(report: &Report) -> String {
    let row = |cells: &[String], tag: &str| {
        let cells: String = cells
            .iter()
            .map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)))
            .collect();
        format!("<tr>{cells}</tr>\n")
    };
    let head = row(&sentence::HEADINGS.map(String::from), "th");
    let body: String = report
        .summary
        .rows
        .iter()
        .map(|r| row(&sentence::cells(r), "td"))
        .collect();
    format!("<table>\n{head}{body}</table>\n")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
