// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One action, done once.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::call::Call;
use super::target::{Target, Trouble};
use super::transfer::{Timed, Transfer};
use crate::action::{Action, Direction};
use crate::results::Latency;

/// What an action showed.
#[derive(Debug)]
pub struct Shown {
    pub primary: Timed,
    pub beside_bytes: u64,
    pub ended: u32,
    pub ping: Option<Latency>,
    pub call: Option<Latency>,
}

/// Does an action: all connections are made first and begin together, and all end with the primary.
///
/// # Errors
/// See [`Trouble`].
pub async fn measure(
    target: &Target,
    action: &Action,
    direction: Direction,
    bytes: u64,
    longest: Duration,
) -> Result<Shown, Trouble> {
    let primary = Transfer::open(target, &action.primary, direction, bytes, longest).await?;
    let call = Call::open(target, longest).await?;
    let others = others(target, action, direction, longest).await?;

    let begun = Instant::now();
    let others: Vec<_> = others.into_iter().map(Transfer::beside).collect();
    let primary = primary.timed(target, longest).await?;
    let beside_bytes = others.iter().map(|other| other.moved()).sum();
    let ended = others.iter().filter(|other| other.ended()).count() as u32;
    drop(others);
    let [ping, call] = call.end(begun).await;
    Ok(Shown {
        primary,
        beside_bytes,
        ended,
        ping,
        call,
    })
}

async fn others(
    target: &Target,
    action: &Action,
    direction: Direction,
    longest: Duration,
) -> Result<Vec<Transfer>, Trouble> {
    let mut opening = JoinSet::new();
    if let Some((flow, count)) = &action.beside {
        for _ in 0..*count {
            let (target, flow) = (target.clone(), flow.clone());
            opening.spawn(async move {
                Transfer::open(&target, &flow, direction, u64::MAX, longest).await
            });
        }
    }
    let mut others = Vec::new();
    while let Some(opened) = opening.join_next().await {
        others.push(opened.expect("no task of ours panics")?);
    }
    Ok(others)
}
