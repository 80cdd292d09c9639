// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Made-up visits to a site: who asks for what, and when.

use std::collections::HashSet;
use std::time::Duration;

use rand_chacha::rand_core::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Bernoulli, Distribution, Exp, LogNormal};

use super::site::{geometric, rank, Document, Site, POPULARITY};

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
