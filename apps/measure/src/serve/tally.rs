// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Who was not let in, told once a minute: a flood of strangers must not fill the log.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

/// What has been refused since it was last told.
#[derive(Debug, Default)]
pub struct Tally {
    counts: BTreeMap<&'static str, u64>,
    told: Option<Instant>,
}

impl Tally {
    /// Counts one; gives the line to be logged, at most one a minute.
    pub fn count(&mut self, why: &'static str, now: Instant) -> Option<String> {
        *self.counts.entry(why).or_default() += 1;
        if self
            .told
            .is_some_and(|told| now.saturating_duration_since(told) < MINUTE)
        {
            return None;
        }
        self.told = Some(now);
        let counts = std::mem::take(&mut self.counts);
        let each: Vec<_> = counts
            .iter()
            .map(|(why, count)| format!("{count} {why}"))
            .collect();
        Some(format!("connections refused: {}", each.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_a_line_a_minute() {
        let now = Instant::now();
        let mut tally = Tally::default();
        assert_eq!(
            tally.count("another token", now).as_deref(),
            Some("connections refused: 1 another token")
        );
        let lines = (0..1000)
            .filter_map(|_| tally.count("another protocol", now))
            .count();
        assert_eq!(lines, 0);
        let line = tally.count("another token", now + MINUTE);
        assert_eq!(
            line.as_deref(),
            Some("connections refused: 1000 another protocol, 1 another token")
        );
    }
}
