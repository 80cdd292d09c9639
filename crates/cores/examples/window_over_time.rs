// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Draws W of the shipped core over time, and the queue that it meets: `window_over_time FILE.svg`.
//!
//! The path is a model, the decisions are those of `algorithms/`. Time is virtual: the same core draws the same file.
//! Lines and marks are drawn on the axes of `window_over_time/frame.svg`.

#[path = "window_over_time/path.rs"]
mod path;

use netnice_cores::{Algorithm, Core, ONE};

use path::{Record, PHASES};

const LENGTH: u32 = 30_000_000;
/// While the other flow sends.
pub const OTHER: std::ops::Range<u32> = 8_000_000..18_000_000;
const SAMPLE: u32 = 40_000;

/// netnice alone, beside the other flow, and alone again.
pub fn run() -> Record {
    let mut path = path::Path::new(Core::new(Algorithm::Netnice, 0, 40_000));
    let mut longest: f64 = 0.0;
    while path.now < LENGTH {
        path.tick(OTHER.contains(&path.now));
        longest = longest.max(path.queue);
        let limit = path.core.rtt_limit() - path.core.flow.rtt.min;
        if path.now % SAMPLE == 0 && limit > 0 {
            path.record.queue.push((path.now, longest as u32, limit));
            longest = 0.0;
        }
    }
    path.record
}

/// The picture as it is committed.
pub fn picture() -> String {
    svg(&run())
}

const FRAME: &str = include_str!("window_over_time/frame.svg");
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
fn svg(record: &Record) -> String {
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

fn main() -> std::io::Result<()> {
    let file = std::env::args().nth(1).expect("the file to write");
    std::fs::write(file, picture())
}
