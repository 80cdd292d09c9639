// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What must hold for any path: bounds, no growth on congestion, and the paper's claim of TCP Nice to be never more aggressive
//! than Reno. Reno here is a model of its own, so that the core is not its own judge. netnice returns to a window faster than
//! Reno does; what it has right after congestion and losses, and how it grows, is bounded as follows.

use crate::decision::{after, reports, states, RULES};
use crate::feed::{Feeder, BASE_US, LEVELS};
use netnice_cores::decision::State;
use netnice_cores::{Algorithm, Param, Recovery, ONE};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// What happens to a flow in a round.
#[derive(Clone, Debug)]
enum Round {
    Rtt(u32),
    Mixed(u32, u32),
    Loss,
    Timeout,
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let rtt = BASE_US..8 * BASE_US;
    prop::collection::vec(
        prop_oneof![
            8 => Just(Round::Rtt(BASE_US)),
            4 => rtt.clone().prop_map(Round::Rtt),
            3 => (rtt, 0u32..=100).prop_map(|(rtt, share)| Round::Mixed(rtt, share)),
            1 => Just(Round::Loss),
            1 => Just(Round::Timeout),
        ],
        1..200,
    )
}

/// Reno by the letter of RFC 5681. In slow start the window grows by a segment per segment acknowledged. Afterwards it grows
/// by one per round trip, in proportion to the part of the window that was acknowledged.
struct Reno {
    cwnd: f64,
    ssthresh: f64,
}

impl Reno {
    fn round(&mut self, acked: u32) {
        let room = (self.ssthresh - self.cwnd).max(0.0);
        let slow_start = (acked as f64).min(room);
        self.cwnd += slow_start;
        self.cwnd += ((acked as f64 - slow_start) / self.cwnd).min(1.0);
    }

    fn lost(&mut self, timeout: bool) {
        self.ssthresh = (self.cwnd / 2.0).max(2.0);
        self.cwnd = if timeout { 1.0 } else { self.ssthresh };
    }
}

fn play(flow: &mut Feeder, round: &Round) {
    match *round {
        Round::Rtt(rtt) => flow.round(rtt),
        Round::Mixed(rtt, share) => {
            let slow = flow.segments() * share / 100;
            flow.mixed_round(&[(slow, rtt), (flow.segments() - slow, BASE_US)]);
        }
        Round::Loss => flow.core.recovery(Recovery::Reduced),
        Round::Timeout => flow.core.recovery(Recovery::Timeout),
    }
    if matches!(round, Round::Loss | Round::Timeout) {
        flow.core.recovery(Recovery::Open);
    }
}

fn fresh(algorithm: Algorithm) -> Feeder {
    let mut flow = Feeder::fresh(algorithm, &[(Param::InitialWindow, 2)]);
    flow.round(BASE_US);
    flow
}

/// The window is at most that of the model, to which the same happens.
fn at_most_reno(algorithm: Algorithm, rounds: &[Round]) -> Result<(), TestCaseError> {
    let mut flow = fresh(algorithm);
    let mut reno = Reno {
        cwnd: 2.0,
        ssthresh: f64::INFINITY,
    };
    reno.round(flow.delivered);
    for round in rounds {
        let delivered = flow.delivered;
        play(&mut flow, round);
        reno.round(flow.delivered.wrapping_sub(delivered));
        match round {
            Round::Loss => reno.lost(false),
            Round::Timeout => reno.lost(true),
            _ => {}
        }
        // Fixed point rounds each step by less than 1/4096.
        let most = reno.cwnd + rounds.len() as f64 / ONE as f64;
        prop_assert!(flow.window() <= most, "{} > {most}", flow.window());
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_window_stays_within_its_bounds(rounds in rounds()) {
        for algorithm in [Algorithm::Nice, Algorithm::Netnice, Algorithm::Vegas, Algorithm::Reno] {
            let mut flow = fresh(algorithm);
            for round in &rounds {
                play(&mut flow, round);
                prop_assert!(flow.core.window() >= flow.core.flow.win.floor.into());
                prop_assert!(flow.last.cwnd >= 1 && flow.last.rate >= 1);
            }
        }
    }

    #[test]
    fn netnice_never_grows_in_a_round_that_signalled(rounds in rounds()) {
        let mut flow = fresh(Algorithm::Netnice);
        for round in &rounds {
            let before = flow.core.window();
            let limit = flow.core.rtt_limit();
            play(&mut flow, round);
            let congested = match *round {
                // The limit may move up within the round, never by more than the round's own samples.
                Round::Rtt(rtt) => rtt > limit && rtt > flow.core.rtt_limit(),
                _ => false,
            };
            if congested {
                prop_assert!(flow.core.window() <= before, "{before} -> {}", flow.core.window());
            }
        }
    }

    #[test]
    fn after_a_loss_netnice_has_no_more_than_reno(rounds in rounds()) {
        for level in LEVELS {
            let mut flow = fresh(level);
            for round in &rounds {
                let mut reno = Reno { cwnd: flow.window(), ssthresh: f64::INFINITY };
                play(&mut flow, round);
                if matches!(round, Round::Loss | Round::Timeout) {
                    reno.lost(matches!(round, Round::Timeout));
                    prop_assert!(flow.window() <= reno.cwnd, "{} > {}", flow.window(), reno.cwnd);
                    prop_assert!(flow.core.flow.win.ssthresh <= (reno.ssthresh * f64::from(ONE)) as u32);
                }
            }
        }
    }

    /// Slow start, with a pair below two segments, and then a segment or a probe's eighth more.
    #[test]
    fn in_a_round_netnice_doubles_at_most(rounds in rounds()) {
        for level in LEVELS {
            let mut flow = fresh(level);
            for round in &rounds {
                let before = flow.window();
                play(&mut flow, round);
                let doubled = before + before.max(2.0);
                let most = doubled + (doubled / 8.0).max(1.0);
                prop_assert!(flow.window() <= most, "{} > {most}", flow.window());
            }
        }
    }

    /// A return ends at 7/8 of the remembered window; beyond it W grows by a segment or an eighth.
    #[test]
    fn beyond_the_remembered_window_it_grows_by_an_eighth((state, w) in states(), report in reports()) {
        let full = if state.full == u32::MAX { w } else { state.full };
        let state = State { full, ..state };
        let (after, win) = after(&state, w, &report, &RULES);
        let most = (state.full / 8 * 7).max(w + (w / 8).max(ONE));
        prop_assert!(win.w.max(win.ssthresh) <= most, "{win:?} > {most}");
        prop_assert!(after.full <= state.full.max(w), "no memory of more than was there");
    }

    #[test]
    fn nice_is_never_more_aggressive_than_reno(rounds in rounds()) {
        at_most_reno(Algorithm::Nice, &rounds)?;
    }
}
