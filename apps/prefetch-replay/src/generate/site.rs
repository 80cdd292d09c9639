// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A made-up site: what its pages are called, how large they are, what they link to and embed.

use rand_chacha::rand_core::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Geometric, LogNormal, Pareto, Zipf};

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
                made.images
                    .push(document(url, bytes.expect("it goes on for ever")));
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
