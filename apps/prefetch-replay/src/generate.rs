// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A log of documented statistics, for sites without one: `netnice-replay generate`.

use std::collections::HashSet;
use std::fmt::Write;
use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::ensure;
use chrono::DateTime;
use rand_chacha::rand_core::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Bernoulli, Distribution, Exp, Geometric, LogNormal, Pareto, Zipf};

use crate::options::Generate;

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

/// In Common Log Format; its seconds are whole, so that images have the second of their page, or the next.
pub fn line(text: &mut String, asked: &Asked) {
    let time = DateTime::from_timestamp(DAY + asked.at.as_secs() as i64, 0).unwrap_or_default();
    let client = Ipv4Addr::from(CLIENTS | (asked.visit & 0x1_ffff));
    let Asked { document, .. } = asked;
    let time = time.format("%d/%b/%Y:%H:%M:%S +0000");
    let (url, bytes) = (&document.url, document.bytes);
    writeln!(text, "{client} - - [{time}] \"GET {url} HTTP/1.1\" 200 {bytes}").expect("memory");
}

/// Exponent of popularity by rank; access logs have 0.6 to 0.9 (Breslau et al., INFOCOM 1999).
pub const POPULARITY: f64 = 0.8;
/// Images that a page embeds, in the mean.
pub const IMAGES: f64 = 3.0;
/// Bytes: the median page. Sizes of pages are log-normal, of images Pareto's (Barford, Crovella, SIGMETRICS 1998).
pub const PAGE_MEDIAN: f64 = 6000.0;
pub const PAGE_SIGMA: f64 = 0.8;
/// Bytes: the smallest image.
pub const IMAGE_LEAST: f64 = 1000.0;
pub const IMAGE_ALPHA: f64 = 1.2;
/// Bytes: nothing is larger.
pub const LARGEST: f64 = 100_000.0;

/// What can be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub url: String,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub document: Document,
    pub images: Vec<Document>,
    /// Indices of other pages, the likeliest first.
    pub links: Vec<usize>,
}

/// Pages, the most popular first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    pub pages: Vec<Page>,
}

/// A rank from 0, the r-th (from 1) with a probability in proportion to `1/r^exponent`.
pub(super) fn rank(count: usize, exponent: f64) -> impl Distribution<usize> {
    let zipf = Zipf::new(count as f64, exponent).expect("at least one, and a finite exponent");
    zipf.map(|r: f64| r as usize - 1)
}

/// A number from 0 with this mean: how often something happens before it does not.
pub(super) fn geometric(mean: f64) -> Geometric {
    Geometric::new(1.0 / (1.0 + mean)).expect("a probability")
}

impl Site {
    /// The site number `seed` of `pages` pages, each with `links` links or to all others.
    pub fn new(pages: usize, links: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let page = LogNormal::new(PAGE_MEDIAN.ln(), PAGE_SIGMA).expect("a finite sigma");
        let image = Pareto::new(IMAGE_LEAST, IMAGE_ALPHA).expect("above 0");
        let (images, popular) = (geometric(IMAGES), rank(pages, POPULARITY));
        let links = links.min(pages - 1);
        let one = |p: usize| {
            let document = |url, bytes: f64| Document {
                url,
                bytes: bytes.clamp(1.0, LARGEST) as u64,
            };
            let mut made = Page {
                document: document(format!("/page{p}.html"), page.sample(&mut rng)),
                images: Vec::new(),
                links: Vec::new(),
            };
            for i in 0..images.sample(&mut rng) {
                let bytes = std::iter::repeat_with(|| image.sample(&mut rng));
                let bytes = bytes.into_iter().find(|b| *b <= LARGEST);
                let url = format!("/page{p}-{i}.png");
                made.images.push(document(url, bytes.expect("it goes on for ever")));
            }
            while made.links.len() < links {
                let to = popular.sample(&mut rng);
                if to != p && !made.links.contains(&to) {
                    made.links.push(to);
                }
            }
            made
        };
        Self {
            pages: (0..pages).map(one).collect(),
        }
    }
}

/// Pages of a visit, in the mean.
pub const PAGES: f64 = 6.0;
/// How often the next page is linked from the last.
pub const FOLLOWS: f64 = 0.85;
/// Exponent of the links' popularity by their place on the page.
pub const LINKS: f64 = 1.0;
pub const THINK_SIGMA: f64 = 0.8;
/// After its page an image is asked for.
const EMBEDDED: Duration = Duration::from_millis(500);

/// A request of the made-up log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked<'a> {
    /// Since the log began.
    pub at: Duration,
    pub visit: u32,
    pub document: &'a Document,
}

/// When visits begin, and how long users think.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Mean time between two beginnings.
    pub every: Duration,
    /// Median.
    pub think: Duration,
}

/// All requests of `visits` visits, in the order of their times.
pub fn requests(site: &Site, visits: u32, pace: Pace, seed: u64) -> Vec<Asked<'_>> {
    let mut beginnings = ChaCha8Rng::seed_from_u64(seed);
    let gap = Exp::new(1.0 / pace.every.as_secs_f64()).expect("a rate");
    let mut begin = 0.0;
    let mut all = Vec::new();
    for visit in 0..visits {
        // A stream of its own, so that a longer log begins as a shorter one.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(u64::from(visit) + 1);
        let asked = |(at, document)| Asked {
            at: Duration::from_secs_f64(begin) + at,
            visit,
            document,
        };
        all.extend(one(site, pace.think, &mut rng).into_iter().map(asked));
        begin += gap.sample(&mut beginnings);
    }
    all.sort_by_key(|a| (a.at, a.visit));
    all
}

/// One visit's documents, and when after its beginning they are asked for.
fn one<'a>(site: &'a Site, think: Duration, rng: &mut ChaCha8Rng) -> Vec<(Duration, &'a Document)> {
    let popular = rank(site.pages.len(), POPULARITY);
    let link = rank(site.pages[0].links.len(), LINKS);
    let follows = Bernoulli::new(FOLLOWS).expect("a probability");
    let thinks = LogNormal::new(think.as_secs_f64().ln(), THINK_SIGMA).expect("a finite sigma");
    let pages = 1 + geometric(PAGES - 1.0).sample(rng);
    let (mut asked, mut seen) = (Vec::new(), HashSet::new());
    let (mut now, mut page) = (Duration::ZERO, popular.sample(rng));
    for _ in 0..pages {
        let here = &site.pages[page];
        if seen.insert(page) {
            asked.push((now, &here.document));
            asked.extend(here.images.iter().map(|image| (now + EMBEDDED, image)));
        }
        now += EMBEDDED + Duration::from_secs_f64(thinks.sample(rng));
        page = match follows.sample(rng) {
            true => here.links[link.sample(rng)],
            false => popular.sample(rng),
        };
    }
    asked
}
