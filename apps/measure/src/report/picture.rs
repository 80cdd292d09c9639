// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A figure as SVG, for pages, and as PNG. Both bring their own font.

use std::sync::Once;

use anyhow::{anyhow, Result};
use plotters::prelude::*;
use plotters::style::register_font;

use super::figures::{Figure, FONT};

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
    ONCE.call_once(|| {
        drop(register_font(
            FONT,
            FontStyle::Normal,
            dejavu::sans::regular(),
        ))
    });
}
