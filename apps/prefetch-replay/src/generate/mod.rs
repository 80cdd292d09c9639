// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A log of documented statistics, for those who have none: `netnice-replay generate`.

pub mod site;
pub mod visits;

use std::fmt::Write;
use std::net::Ipv4Addr;

use anyhow::ensure;
use chrono::DateTime;

use crate::options::Generate;
use site::Site;
use visits::{requests, Asked, Pace};

/// 30 January 2001, the day of the paper's trace.
const DAY: i64 = 980_812_800;
/// 198.18.0.0/15 is for measurements.
const CLIENTS: u32 = 0xc612_0000;

pub fn run(options: &Generate) -> anyhow::Result<()> {
    let pace = Pace {
        every: options.every.into(),
        think: options.think.into(),
    };
    ensure!(
        !pace.every.is_zero() && !pace.think.is_zero(),
        "--every and --think must be above 0"
    );
    let site = Site::new(options.pages as usize, options.links as usize, options.site);
    let mut text = String::new();
    for asked in requests(&site, options.visits, pace, options.seed) {
        line(&mut text, &asked);
    }
    Ok(netnice_output::print(text)?)
}

/// In Common Log Format; its seconds are whole, so that images share theirs with their page or have the next.
pub fn line(text: &mut String, asked: &Asked) {
    let time = DateTime::from_timestamp(DAY + asked.at.as_secs() as i64, 0).unwrap_or_default();
    let client = Ipv4Addr::from(CLIENTS | (asked.visit & 0x1_ffff));
    let Asked { document, .. } = asked;
    let time = time.format("%d/%b/%Y:%H:%M:%S +0000");
    let (url, bytes) = (&document.url, document.bytes);
    writeln!(
        text,
        "{client} - - [{time}] \"GET {url} HTTP/1.1\" 200 {bytes}"
    )
    .expect("memory");
}
