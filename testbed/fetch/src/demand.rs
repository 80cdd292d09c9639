// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The demand: which client wants how many bytes at what time. A function of its parameters alone,
//! so that the very same demand meets every kind of background.
//!
//! Each client is a Poisson process with a ChaCha8 stream of its own; sizes are bounded Pareto.

use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use thiserror::Error;

/// A bounded Pareto distribution of document sizes, in bytes.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Sizes {
    pub alpha: f64,
    pub min: u64,
    pub max: u64,
}

/// What is asked for over the whole run.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Demand {
    pub clients: u32,
    /// Document bits per second, all clients together, headers not counted.
    pub load_bps: f64,
    /// Seconds over which documents are asked for.
    pub horizon_s: f64,
    pub seed: u64,
    pub sizes: Sizes,
}

/// One document that one client wants at one time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Arrival {
    pub client: u32,
    /// Microseconds after the start of the run.
    pub at_us: u64,
    pub bytes: u64,
}

/// Parameters no demand can be made of.
#[derive(Debug, Error)]
pub enum DemandError {
    #[error("alpha is {0}; a bounded Pareto needs a finite exponent above 0 (1.2 is the default)")]
    Alpha(f64),
    #[error("sizes from {0} to {1} bytes: the smallest must be at least 1 and below the largest")]
    Bounds(u64, u64),
    #[error("there must be at least one client")]
    NoClients,
}

impl Sizes {
    /// The distribution's mean in bytes.
    pub fn mean(&self) -> f64 {
        let (a, l, h) = (self.alpha, self.min as f64, self.max as f64);
        let norm = 1.0 - (l / h).powf(a);
        if (a - 1.0).abs() < 1e-9 {
            return l * (h / l).ln() / norm;
        }
        l * a / (a - 1.0) * (1.0 - (l / h).powf(a - 1.0)) / norm
    }

    /// The size below which a share `u` (0..1) of all documents lies.
    pub fn quantile(&self, u: f64) -> u64 {
        let (a, l, h) = (self.alpha, self.min as f64, self.max as f64);
        let x = l / (1.0 - u * (1.0 - (l / h).powf(a))).powf(1.0 / a);
        (x as u64).clamp(self.min, self.max)
    }
}

impl Demand {
    /// Every document of the run, in order of time.
    /// When the parameters describe no distribution.
    pub fn arrivals(&self) -> Result<Vec<Arrival>, DemandError> {
        let sizes = self.sizes;
        if !sizes.alpha.is_finite() || sizes.alpha <= 0.0 {
            return Err(DemandError::Alpha(sizes.alpha));
        }
        if sizes.min < 1 || sizes.min >= sizes.max {
            return Err(DemandError::Bounds(sizes.min, sizes.max));
        }
        if self.clients == 0 {
            return Err(DemandError::NoClients);
        }
        let mean_gap_s = sizes.mean() * 8.0 * f64::from(self.clients) / self.load_bps;
        let mut all: Vec<Arrival> = (0..self.clients)
            .flat_map(|client| self.of_client(client, mean_gap_s))
            .collect();
        all.sort_by_key(|a| (a.at_us, a.client));
        Ok(all)
    }

    fn of_client(&self, client: u32, mean_gap_s: f64) -> Vec<Arrival> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(u64::from(client));
        let mut wanted = Vec::new();
        let mut now = 0.0;
        loop {
            now -= (1.0 - unit(&mut rng)).ln() * mean_gap_s;
            if now >= self.horizon_s {
                return wanted;
            }
            wanted.push(Arrival {
                client,
                at_us: (now * 1e6) as u64,
                bytes: self.sizes.quantile(unit(&mut rng)),
            });
        }
    }
}

/// A number in 0..1 (1 excluded) with 53 random bits.
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes {
        alpha: 1.2,
        min: 4096,
        max: 1 << 20,
    };

    fn demand(seed: u64, horizon_s: f64) -> Demand {
        Demand {
            clients: 12,
            load_bps: 5e6,
            horizon_s,
            seed,
            sizes: SIZES,
        }
    }

    #[test]
    fn the_same_seed_is_the_same_demand() {
        let first = demand(7, 60.0).arrivals().unwrap();
        assert_eq!(first, demand(7, 60.0).arrivals().unwrap());
        assert_ne!(first, demand(8, 60.0).arrivals().unwrap());
    }

    #[test]
    fn a_longer_run_begins_like_a_shorter_one() {
        let short = demand(3, 10.0).arrivals().unwrap();
        let long = demand(3, 20.0).arrivals().unwrap();
        assert_eq!(short[..], long[..short.len()]);
    }

    #[test]
    fn sizes_have_the_documented_mean_and_bounds() {
        let n = 1_000_000;
        let sum: f64 = (0..n)
            .map(|i| SIZES.quantile((f64::from(i) + 0.5) / f64::from(n)) as f64)
            .sum();
        let mean = sum / f64::from(n);
        assert!((mean / SIZES.mean() - 1.0).abs() < 1e-3, "{mean}");
        assert_eq!(SIZES.quantile(0.0), 4096);
        assert!(SIZES.quantile(1.0 - 1e-16) <= 1 << 20);
    }

    #[test]
    fn an_exponent_of_one_has_a_mean_too() {
        let near = Sizes {
            alpha: 1.000_01,
            ..SIZES
        };
        let one = Sizes { alpha: 1.0, ..SIZES };
        assert!((near.mean() / one.mean() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn the_offered_load_is_the_asked_one_in_the_long_run() {
        let horizon = 20_000.0;
        let all = demand(1, horizon).arrivals().unwrap();
        let bits: f64 = all.iter().map(|a| a.bytes as f64 * 8.0).sum();
        assert!((bits / horizon / 5e6 - 1.0).abs() < 0.02, "{bits}");
        assert!(all.windows(2).all(|w| w[0].at_us <= w[1].at_us));
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let mut bad = demand(1, 1.0);
        bad.sizes.alpha = 0.0;
        assert!(bad.arrivals().is_err());
        let mut bad = demand(1, 1.0);
        bad.sizes.max = 4096;
        assert!(bad.arrivals().is_err());
        let mut bad = demand(1, 1.0);
        bad.clients = 0;
        assert!(bad.arrivals().is_err());
    }
}
