// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A run as SVG: its lines and marks on the axes of `frame.svg`.

use netnice_cores::ONE;

use super::record::{Record, PHASES};

const FRAME: &str = include_str!("frame.svg");
/// Where the axes have 0 s and 30 s; W = 1 and an octave of it; the phases; an empty queue.
const LEFT: f64 = 60.0;
const RIGHT: f64 = 870.0;
const ONE_SEGMENT: f64 = 252.0;
const OCTAVE: f64 = 21.0;
const STRIP: f64 = 386.0;
const EMPTY: f64 = 550.0;

fn x(us: u32) -> f64 {
    LEFT + f64::from(us) * 27.0 / 1e6
}

fn y(w: u32) -> f64 {
    ONE_SEGMENT - OCTAVE * (f64::from(w) / f64::from(ONE)).log2()
}

fn delay(us: u32) -> f64 {
    EMPTY - f64::from(us) * 3.2 / 1e3
}

fn path(class: &str, d: &str) -> String {
    format!("<path class=\"{class}\" d=\"{d}\"/>\n")
}

/// The parts of W's line that are of one phase, and the same as a strip.
fn phase(record: &Record, phase: &str) -> String {
    let (mut line, mut strip) = (String::new(), String::new());
    for (number, step) in record.steps.iter().enumerate().filter(|(_, step)| step.phase == phase) {
        let next = record.steps.get(number + 1);
        let (from, until) = (x(step.us), next.map_or(RIGHT, |next| x(next.us)));
        line += &format!(
            "M{from:.1} {:.1}H{until:.1}V{:.1}",
            y(step.w),
            y(next.unwrap_or(step).w)
        );
        strip += &format!("M{from:.1} {STRIP}H{until:.1}");
    }
    path(phase, &line) + &path(&format!("strip {phase}"), &strip)
}

/// The picture of a run.
pub fn svg(record: &Record) -> String {
    let (mut queue, mut limit) = (format!("M{LEFT} {EMPTY}"), String::new());
    let first = record.queue.first().map_or(EMPTY, |row| delay(row.2));
    for &(us, longest, above) in &record.queue {
        queue += &format!("L{:.1} {:.1}", x(us), delay(longest));
        limit += &format!("H{:.1}V{:.1}", x(us), delay(above));
    }
    let mut drawn = path("queue", &format!("{queue}V{EMPTY}z")) + &path("limit", &format!("M{LEFT} {first:.1}{limit}"));
    drawn.extend(PHASES.iter().map(|name| phase(record, name)));
    for (name, step) in &record.turns {
        drawn += &format!(
            "<use href=\"#{name}\" x=\"{:.1}\" y=\"{:.1}\"/>\n",
            x(step.us),
            y(step.w)
        );
    }
    FRAME.replace("</svg>", &(drawn + "</svg>"))
}
