// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Prediction by partial matching, PPM-n/w, as in TCP Nice (OSDI 2002, section 6.1). A client's n latest requests for
//! pages predict the URLs it will ask for until the w-th next page.
//!
//! Pure: no I/O, no clock, no randomness. Deviations from the paper, and why:
//! - Shorter contexts are asked for what the longest one has not seen, as in its source (Fan, Cao, Lin, Jacobson 1999).
//! - "Non-image" is for the caller to say. The log readers count style sheets, scripts and fonts as images: pages embed
//!   them today as they did images then.
//! - Memory is bounded: counts are halved, a few contexts a request, while all takes more than it may.
//! - A URL is predicted only once its reply was seen to be for every user, and several networks have asked for it.

mod client;
mod contexts;
mod explain;
pub mod log;
mod params;
mod predictor;
mod saved;
mod urls;

pub use explain::{Reason, Withheld};
pub use params::{matches, Error, Params};
pub use predictor::{Prediction, Predictor, Request};
pub use urls::{Changes, ContextRow, UrlRow};
