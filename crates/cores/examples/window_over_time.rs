// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Draws W of the shipped core over time, and the queue that it meets: `window_over_time FILE.svg`.
//!
//! The path is a model, the decisions are those of `algorithms/`. Time is virtual: the same core draws the same file.

#[path = "window_over_time/drawing.rs"]
mod drawing;
#[path = "window_over_time/path.rs"]
mod path;
#[path = "window_over_time/record.rs"]
mod record;

use netnice_cores::{Algorithm, Core};

const LENGTH: u32 = 30_000_000;
/// While the other flow sends.
pub const OTHER: std::ops::Range<u32> = 8_000_000..18_000_000;
const SAMPLE: u32 = 40_000;

/// netnice alone, beside the other flow, and alone again.
pub fn run() -> record::Record {
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
    drawing::svg(&run())
}

fn main() -> std::io::Result<()> {
    let file = std::env::args().nth(1).expect("the file to write");
    std::fs::write(file, picture())
}
