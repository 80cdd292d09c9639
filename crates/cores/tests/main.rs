// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The cores on the host: each rule, what holds for any path, and rights over niceness.

mod base_drift;
mod connection;
mod decision;
mod estimators;
mod feed;
mod groups;
mod known_misses;
mod lbe_rules;
mod ledbat_rules;
mod ledbatpp_rules;
mod levels;
mod netnice_paths;
mod netnice_rules;
mod niceness;
mod niceness_alone;
mod nicer_rules;
mod pacing;
mod papers;
mod path;
mod peer_clocks;
mod picture;
mod police;
mod properties;
mod siblings;
mod tcplp_rules;

/// What the receivers do: on simulated paths, beside siblings, with clocks that run wrong, with senders that change.
mod receiver {
    mod connection;
    mod path;
    mod properties;
    mod rledbat;
    mod sampling;
    mod siblings;
    mod simulated;
    mod vulture;
}
