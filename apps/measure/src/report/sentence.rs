// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The report in words: a sentence for each background, and a table.

use crate::action::Direction;
use crate::statistics::Estimate;
use crate::summary::{Row, Summary};

/// A sentence for each direction and background.
pub fn sentences(summary: &Summary) -> Vec<String> {
    let mut told: Vec<(Direction, &str)> = Vec::new();
    for row in &summary.rows {
        if let Some((flow, _)) = &row.action.beside {
            let background = (row.direction, flow.name());
            if flow != &row.action.primary && !told.contains(&background) {
                told.push(background);
            }
        }
    }
    if told.is_empty() {
        return vec![
            "Nothing was measured beside another congestion control, so nothing can be said of a cost.".into(),
        ];
    }
    told.into_iter()
        .map(|(direction, name)| sentence(summary, direction, name))
        .collect()
}

fn sentence(summary: &Summary, direction: Direction, name: &str) -> String {
    let rows = || summary.rows.iter().filter(move |row| row.direction == direction);
    let mut costs: Vec<(u32, Estimate)> = rows()
        .filter(|row| beside(row) == Some(name))
        .filter_map(|row| Some((row.action.others(), row.kept?)))
        .collect();
    costs.sort_by_key(|(count, _)| *count);
    let told = |(count, kept): &(u32, Estimate)| {
        let cost = percent(Estimate {
            value: 1.0 - kept.value,
            half: kept.half,
        });
        if *count == 1 {
            cost
        } else {
            format!("{cost} with {count} at once")
        }
    };
    let cost = match costs.split_first() {
        None => "an unknown share (measure the primary alone too)".into(),
        Some((first, [])) => format!("{} of its rate here", told(first)),
        Some((first, more)) => {
            let more: Vec<_> = more.iter().map(told).collect();
            format!("{} of its rate here ({})", told(first), more.join(", "))
        }
    };
    let transfers = match direction {
        Direction::Up => "uploads",
        Direction::Down => "downloads",
    };
    let alone = rows().find(|row| row.action.beside.is_none() && row.action.primary.name() == name);
    let found = alone.and_then(|row| row.found).map(percent);
    let found = found.map_or(String::new(), |found| format!(" and found {found} of what was free"));
    format!("Background {transfers} ({name}) cost the foreground {cost}{found}.")
}

fn beside(row: &Row) -> Option<&str> {
    row.action.beside.as_ref().map(|(flow, _)| flow.name())
}

/// As 2 ± 1 %; with a digit more where the interval is narrower than that.
pub fn percent(estimate: Estimate) -> String {
    // No cost of -0 %.
    let value = estimate.value * 100.0 + 0.0;
    match estimate.half.map(|half| half * 100.0) {
        None => format!("{value:.0} % (too few measurements for an interval)"),
        Some(half) if half < 1.0 => format!("{value:.1} ± {half:.1} %"),
        Some(half) => format!("{value:.0} ± {half:.0} %"),
    }
}

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
    text += &line(&std::array::from_fn::<_, 10, _>(|index| align(index).to_owned()));
    summary.rows.iter().for_each(|row| text += &line(&cells(row)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Measurement;
    use crate::summary::tests::measured;

    fn week() -> Vec<Measurement> {
        let mut all = Vec::new();
        for n in 0..40 {
            let wobble = f64::from(n % 5) * 0.1 - 0.2;
            for (action, primary) in [
                ("reno/none", 10.0),
                ("netnice/none", 8.1),
                ("reno/reno", 5.0),
                ("reno/netnice", 9.8),
                ("reno/netnice8", 9.5),
            ] {
                all.push(measured(action, Direction::Up, primary + wobble, 1.0));
            }
        }
        all
    }

    #[test]
    fn it_says_what_it_costs_and_finds() {
        let sentences = sentences(&Summary::of(&week()));
        assert_eq!(
            sentences,
            [
                "Background uploads (netnice) cost the foreground 2.0 ± 0.6 % of its rate here (5.0 ± 0.6 % with 8 at once) \
          and found 81.0 ± 0.6 % of what was free."
            ]
        );
    }

    #[test]
    fn without_numbers_it_says_so() {
        let alone = [measured("reno/none", Direction::Up, 1.0, 0.0)];
        assert!(sentences(&Summary::of(&alone))[0].starts_with("Nothing was measured beside"));
        let two = [
            measured("reno/none", Direction::Up, 1.0, 0.0),
            measured("reno/lp", Direction::Up, 1.0, 0.0),
        ];
        assert!(sentences(&Summary::of(&two))[0].contains("too few measurements"));
    }
}
