// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Prediction by partial matching, PPM-n/w, as TCP Nice (OSDI 2002, section 6.1) has it: a client's n latest requests
//! for pages predict the URLs it will ask for until the w-th next page.
//!
//! Pure: no I/O, no clock, no randomness. Deviations from the paper, and why:
//! - Shorter contexts are asked for what the longest one has not seen, as in its source (Fan, Cao, Lin, Jacobson 1999).
//! - "Non-image" is for the caller to say; the log readers count style sheets, scripts and fonts as images, since
//!   pages embed them today as they did images then.
//! - Memory is bounded: counts are halved, a few contexts a request, while all takes more than it may.
//! - A URL may be held back until several clients have asked for it, so that no one's secret link is told to others.

mod contexts;
pub mod log;
mod params;
mod predictor;
mod saved;
mod urls;

pub use params::{Error, Params};
pub use predictor::{Prediction, Predictor, Reason, Request, Withheld};
pub use urls::{Changes, ContextRow, UrlRow};
