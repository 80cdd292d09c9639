// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What came out of a demonstration, for people and programs.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::conditions::{Background, Event, BUFFER_BDP, RATE_MBIT, RTT_MS, UPLOADS};
use crate::bars::{mean, p95, Bar, Bars};

/// Page loads beside one background.
#[derive(Debug, Serialize)]
pub struct Phase {
    pub background: Background,
    mean_ms: Option<f64>,
    p95_ms: Option<f64>,
    /// Pages that had not come after 5 s.
    lost: usize,
    uploads_bps: Option<f64>,
    /// Seconds since the phase began, and milliseconds that the page took.
    pages: Vec<(f64, f64)>,
}

/// All of them, with the conditions.
#[derive(Debug, Serialize)]
pub struct Demo {
    rate_bps: u32,
    rtt_ms: u32,
    buffer_bdp: u32,
    uploads: usize,
    pub phases: Vec<Phase>,
    /// Why the figures are doubtful; empty if the machine kept the line's time.
    pub remarks: Vec<String>,
}

impl Demo {
    pub fn new() -> Self {
        Self {
            rate_bps: RATE_MBIT * 1_000_000,
            rtt_ms: RTT_MS,
            buffer_bdp: BUFFER_BDP,
            uploads: UPLOADS,
            phases: Vec::new(),
            remarks: Vec::new(),
        }
    }

    pub fn add(&mut self, event: Event) {
        if let Event::Phase(background) = event {
            self.phases.push(Phase {
                background,
                mean_ms: None,
                p95_ms: None,
                lost: 0,
                uploads_bps: None,
                pages: Vec::new(),
            });
            return;
        }
        let Some(phase) = self.phases.last_mut() else { return };
        match event {
            Event::Page { at, ms } => phase.pages.push((at, ms)),
            Event::Lost => phase.lost += 1,
            Event::Uploads { bps } => phase.uploads_bps = Some(bps),
            Event::Phase(_) => {}
        }
        let times = || phase.pages.iter().map(|(_, ms)| *ms);
        (phase.mean_ms, phase.p95_ms) = (mean(times()), p95(times()));
    }
}

impl Display for Demo {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let bar = |phase: &Phase| Bar {
            title: phase.background.title(),
            ms: phase.mean_ms,
            background_bps: phase.uploads_bps,
        };
        let bars: Vec<Bar> = self.phases.iter().map(bar).collect();
        writeln!(
            f,
            "How long a page takes on an emulated line, {RATE_MBIT} Mbit/s and {RTT_MS} ms, and what\n\
             {UPLOADS} uploads get meanwhile:\n\n{}",
            Bars(&bars)
        )?;
        let lost: usize = self.phases.iter().map(|phase| phase.lost).sum();
        if lost > 0 {
            writeln!(f, "Pages that had not come after 5 s, and are left out: {lost}\n")?;
        }
        self.remarks.iter().try_for_each(|remark| writeln!(f, "{remark}"))?;
        writeln!(f, "On your own line: sudo netnicectl try URL")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demo() -> Demo {
        let mut demo = Demo::new();
        for (background, ms, bps) in [
            (Background::Nothing, 150.0, None),
            (Background::Plain, 450.0, Some(9.4e6)),
            (Background::Netnice, 165.0, Some(9e6)),
        ] {
            demo.add(Event::Phase(background));
            for at in [1.0, 2.0] {
                demo.add(Event::Page { at, ms: ms + at });
            }
            if let Some(bps) = bps {
                demo.add(Event::Uploads { bps });
            }
        }
        demo
    }

    #[test]
    fn the_end_is_what_to_do_next() {
        let text = demo().to_string();
        assert!(
            text.ends_with("\nOn your own line: sudo netnicectl try URL\n"),
            "{text}"
        );
        assert!(
            text.contains("beside plain uploads") && text.contains("× 3.0"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn pages_that_do_not_come_are_said() {
        let mut demo = demo();
        demo.add(Event::Lost);
        assert!(demo.to_string().contains("left out: 1\n"));
        assert_eq!(demo.phases[2].pages.len(), 2);
    }
}
