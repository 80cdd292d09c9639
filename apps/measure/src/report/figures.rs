// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The paper's two figures: throughput of the primary by action (8), and by hour of the day (9).

use std::collections::BTreeMap;
use std::sync::Once;

use anyhow::{anyhow, Result};
use chrono::Timelike;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;

use super::contents::Report;
use crate::action::Direction;

/// Okabe and Ito's colours, which all people tell apart.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
    RGBColor(240, 228, 66),
    RGBColor(0, 0, 0),
];
pub const FONT: &str = "sans-serif";
const TEXT: u32 = 15;
/// Hours, and room for the legend beside them.
const WITH_LEGEND: f64 = 29.0;
/// Room above the tallest.
const HEADROOM: f64 = 1.1;

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// What can be drawn.
pub enum Figure {
    Bars(Bars),
    Hours(Hours),
}

/// Both of one direction, with the names of their files.
pub fn both(report: &Report, direction: Direction) -> [(&'static str, Figure); 2] {
    let (bars, hours) = (Bars::of(report, direction), Hours::of(report, direction));
    [("bars", Figure::Bars(bars)), ("hours", Figure::Hours(hours))]
}

impl Figure {
    pub fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        match self {
            Self::Bars(bars) => bars.draw(area),
            Self::Hours(hours) => hours.draw(area),
        }
    }
}

fn colour(index: usize) -> RGBColor {
    COLOURS[index % COLOURS.len()]
}

/// A bar for each action: the mean, and a line from the least to the most.
pub struct Bars {
    title: String,
    bars: Vec<(String, [f64; 3])>,
}

impl Bars {
    fn of(report: &Report, direction: Direction) -> Self {
        let rows = report.summary.rows.iter().filter(|row| row.direction == direction);
        let bars = rows.map(|row| {
            (
                row.action.to_string(),
                [row.primary.least, row.primary.mean, row.primary.most],
            )
        });
        Self {
            title: format!("Throughput of the primary, {direction}, by action: least, mean and most"),
            bars: bars.collect(),
        }
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        let most = self.bars.iter().map(|(_, [.., most])| *most).fold(0.0, f64::max) * HEADROOM;
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, TEXT + 2))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d((0..self.bars.len() - 1).into_segmented(), 0.0..most)?;
        let name = |place: &SegmentValue<usize>| match place {
            SegmentValue::CenterOf(index) => self.bars.get(*index).map_or(String::new(), |(name, _)| name.clone()),
            _ => String::new(),
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .max_light_lines(1)
            .x_labels(self.bars.len())
            .x_label_formatter(&name)
            .y_desc("Mbit/s")
            .label_style((FONT, TEXT - 2))
            .draw()?;
        for (index, (_, [least, mean, most])) in self.bars.iter().enumerate() {
            let mut bar = Rectangle::new(
                [
                    (SegmentValue::Exact(index), 0.0),
                    (SegmentValue::Exact(index + 1), *mean),
                ],
                colour(index).mix(0.7).filled(),
            );
            bar.set_margin(0, 0, 14, 14);
            chart.draw_series([bar])?;
            let centre = || SegmentValue::CenterOf(index);
            chart.draw_series([PathElement::new(vec![(centre(), *least), (centre(), *most)], BLACK)])?;
            for end in [least, most] {
                let cap = EmptyElement::at((centre(), *end)) + PathElement::new(vec![(-6, 0), (6, 0)], BLACK);
                chart.draw_series([cap])?;
            }
        }
        Ok(())
    }
}

/// A line for each action through the means of the hours in which it was measured.
pub struct Hours {
    title: String,
    lines: Vec<(String, Vec<(f64, f64)>)>,
}

impl Hours {
    fn of(report: &Report, direction: Direction) -> Self {
        let mut sums: BTreeMap<(String, u32), (f64, f64)> = BTreeMap::new();
        for measurement in report.measurements.iter().filter(|m| m.direction == direction) {
            let sum = sums
                .entry((measurement.action.to_string(), measurement.at.hour()))
                .or_default();
            *sum = (sum.0 + measurement.primary_mbit(), sum.1 + 1.0);
        }
        let rows = report.summary.rows.iter().filter(|row| row.direction == direction);
        let lines = rows.map(|row| {
            let name = row.action.to_string();
            let of_it = sums.iter().filter(|((action, _), _)| *action == name);
            let means = of_it
                .map(|((_, hour), (sum, count))| (f64::from(*hour) + 0.5, sum / count))
                .collect();
            (name, means)
        });
        Self {
            title: format!("Throughput of the primary, {direction}, by hour of the day"),
            lines: lines.collect(),
        }
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        let means = self.lines.iter().flat_map(|(_, means)| means);
        let most = means.map(|(_, mean)| *mean).fold(0.0, f64::max) * HEADROOM;
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, TEXT + 2))
            .margin(10)
            .x_label_area_size(45)
            .y_label_area_size(60)
            .build_cartesian_2d(0.0..WITH_LEGEND, 0.0..most)?;
        chart
            .configure_mesh()
            .max_light_lines(1)
            .x_labels(16)
            .x_label_formatter(&|hour| {
                if *hour > 24.0 {
                    String::new()
                } else {
                    format!("{hour:.0}")
                }
            })
            .x_desc("hour")
            .y_desc("Mbit/s")
            .label_style((FONT, TEXT - 2))
            .draw()?;
        for (index, (name, means)) in self.lines.iter().enumerate() {
            let colour = colour(index);
            chart
                .draw_series(LineSeries::new(means.iter().copied(), colour.stroke_width(2)).point_size(3))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .label_font((FONT, TEXT - 2))
            .position(SeriesLabelPosition::LowerRight)
            .draw()?;
        Ok(())
    }
}

const SIZE: (u32, u32) = (960, 420);

/// The text of an SVG document.
pub fn svg(figure: &Figure) -> Result<String> {
    font();
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    area.fill(&WHITE)
        .and_then(|()| figure.draw(&area))
        .and_then(|()| area.present())?;
    drop(area);
    Ok(text)
}

/// The bytes of a PNG file.
pub fn png(figure: &Figure) -> Result<Vec<u8>> {
    font();
    let mut pixels = vec![0; (SIZE.0 * SIZE.1 * 3) as usize];
    let area = BitMapBackend::with_buffer(&mut pixels, SIZE).into_drawing_area();
    area.fill(&WHITE)
        .and_then(|()| figure.draw(&area))
        .and_then(|()| area.present())?;
    drop(area);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder
        .write_header()?
        .write_image_data(&pixels)
        .map_err(|e| anyhow!("cannot make a PNG: {e}"))?;
    Ok(file)
}

fn font() {
    static ONCE: Once = Once::new();
    // It fails on what is no font, and this is one: a test draws with it.
    ONCE.call_once(|| drop(register_font(FONT, FontStyle::Normal, dejavu::sans::regular())));
}
