// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A row for each action.

use super::sentence::percent;
use crate::summary::{Row, Summary};

pub const HEADINGS: [&str; 10] = [
    "action",
    "way",
    "measured",
    "Mbit/s",
    "least",
    "most",
    "of alone",
    "beside, Mbit/s",
    "call p95, ms",
    "call lost",
];

/// The cells of a row, as the headings have them.
pub fn cells(row: &Row) -> [String; 10] {
    let share = row.kept.or(row.found);
    [
        row.action.to_string(),
        row.direction.to_string(),
        row.primary.count.to_string(),
        format!("{:.2}", row.primary.mean),
        format!("{:.2}", row.primary.least),
        format!("{:.2}", row.primary.most),
        share.map_or("–".into(), percent),
        if row.action.beside.is_some() {
            format!("{:.2}", row.beside.mean)
        } else {
            "–".into()
        },
        row.call_p95.map_or("–".into(), |ms| format!("{ms:.1}")),
        row.call_lost
            .map_or("–".into(), |lost| format!("{:.1} %", lost * 100.0)),
    ]
}

/// For a terminal or a document.
pub fn markdown(summary: &Summary) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&HEADINGS.map(String::from));
    let align = |index| if index < 2 { "---" } else { "---:" };
    text += &line(&std::array::from_fn::<_, 10, _>(|index| {
        align(index).to_owned()
    }));
    summary
        .rows
        .iter()
        .for_each(|row| text += &line(&cells(row)));
    text
}
