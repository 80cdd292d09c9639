// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-measure run`: at random times does one of the actions, for hours or days.

mod measure;
mod stop;
mod target;
mod transfer;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use tokio::time::sleep;

use crate::action::{Action, Direction};
use crate::results::{Failure, Measurement, Record, Results, Start};
use measure::{measure, Shown};
use netnice_output::complain;
pub use stop::{Progress, Stop};
use stop::{Reading, Sizing};
pub use target::{Target, Trouble};
use transfer::Transfer;

/// The first pause after a failure; each doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// A primary beside many others may take so many times as long as alone before it is ended.
const LONGEST_TIMES: u32 = 6;

/// What is to be measured.
pub struct Plan {
    pub actions: Vec<Action>,
    /// Of actions that leave it open.
    pub direction: Direction,
    /// Mean pause between two measurements.
    pub interval: Duration,
    /// How long the primary is to take, alone.
    pub transfer: Duration,
    pub output: PathBuf,
    pub stop: Stop,
}

/// A run that goes on.
pub struct Run {
    target: Target,
    plan: Plan,
    results: Results,
    progress: Progress,
    sizing: Sizing,
    /// How often each action was tried by this run.
    tried: HashMap<Action, usize>,
    attempts: usize,
    begun: Reading,
    last: Reading,
}

impl Run {
    /// Opens the results and goes on where they end.
    /// The results cannot be used, or this machine lacks what an action names.
    pub fn open(target: Target, plan: Plan) -> Result<Self> {
        for action in &plan.actions {
            let direction = action.direction(plan.direction);
            let beside = action.beside.as_ref().map(|(flow, _)| flow);
            for flow in [Some(&action.primary), beside].into_iter().flatten() {
                target::check(flow, direction).with_context(|| format!("{action} cannot be done here"))?;
            }
        }
        let (results, records, damage) = Results::open(&plan.output)?;
        for damage in damage {
            complain(format!("{}: {damage}", plan.output.display()));
        }
        let progress = Progress::resumed(records);
        if !progress.measurements.is_empty() {
            let (count, path) = (progress.measurements.len(), plan.output.display());
            complain(format!("going on after {count} measurements in {path}"));
        }
        let now = Reading::now();
        let mut run = Self {
            target,
            plan,
            results,
            progress,
            sizing: Sizing::default(),
            tried: HashMap::new(),
            attempts: 0,
            begun: now,
            last: now,
        };
        for index in 0..run.progress.measurements.len() {
            run.learn(index);
        }
        run.keep(&Record::Start(Start {
            at: now.wall,
            host: run.target.host.clone(),
            actions: run.plan.actions.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
        }));
        Ok(run)
    }

    /// Measures until it is enough; gives why it is.
    /// Something is wrong that time does not mend: the token, say.
    pub async fn until_enough(&mut self) -> Result<String> {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(why) = self.plan.stop.reason(&self.progress, self.elapsed()) {
                return Ok(why);
            }
            let action = self.choose();
            self.attempts += 1;
            match self.act(&action).await {
                Ok(()) => {
                    pause = FIRST_PAUSE;
                    self.rest(exponential(self.plan.interval)).await;
                }
                Err(trouble) => {
                    self.failed(&action, &trouble);
                    if trouble.stays() && self.attempts == 1 {
                        bail!(trouble);
                    }
                    complain(format!("{trouble}; trying again in {} s", pause.as_secs()));
                    self.rest(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Measurements so far, of earlier runs too.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Writes what waits for room on the disk, the last time.
    /// There is still none: those records are lost.
    pub fn finish(&mut self) -> Result<()> {
        let kept = self.results.kept();
        self.results.flush().with_context(|| format!("{kept} records are lost"))
    }

    fn elapsed(&self) -> Duration {
        self.progress.before + Reading::now().steady.saturating_sub(self.begun.steady)
    }

    /// One of those that were done least, at random: each comes as often as the others, in no order.
    fn choose(&mut self) -> Action {
        let done = |action: &Action| {
            let before = self
                .progress
                .measurements
                .iter()
                .filter(|m| m.action == *action)
                .count();
            before.max(self.tried.get(action).copied().unwrap_or(0))
        };
        let least = self.plan.actions.iter().map(done).min().unwrap_or(0);
        let candidates: Vec<_> = self
            .plan
            .actions
            .iter()
            .filter(|action| done(action) == least)
            .collect();
        let action = candidates[fastrand::usize(..candidates.len())].clone();
        let count = done(&action) + 1;
        self.tried.insert(action.clone(), count);
        action
    }

    async fn act(&mut self, action: &Action) -> Result<(), Trouble> {
        let direction = action.direction(self.plan.direction);
        if self.sizing.bytes(direction, self.plan.transfer).is_none() {
            self.probe(direction).await?;
        }
        let bytes = self.sizing.bytes(direction, self.plan.transfer).unwrap_or(u64::MAX);
        let longest = self.plan.transfer * LONGEST_TIMES;
        let shown = measure(&self.target, action, direction, bytes, longest).await?;
        self.record(action, direction, &shown);
        Ok(())
    }

    /// Finds the path's rate, in a third of a transfer's time.
    async fn probe(&mut self, direction: Direction) -> Result<(), Trouble> {
        let length = self.plan.transfer / 3;
        let reference = self.plan.actions[0].primary.clone();
        let probe = Transfer::open(&self.target, &reference, direction, u64::MAX, length).await?;
        let seen = probe.timed(&self.target, length).await?;
        self.sizing.saw(direction, seen.bytes, seen.seconds);
        Ok(())
    }

    fn record(&mut self, action: &Action, direction: Direction, shown: &Shown) {
        let now = Reading::now();
        let jump = now.jumped(&self.last);
        if let Some(seconds) = jump {
            complain(format!(
                "the clock jumped by {seconds:+} s; hours of day follow it from here on, nothing else does"
            ));
        }
        self.last = now;
        let measurement = Measurement {
            at: now.wall,
            elapsed_s: round(self.elapsed().as_secs_f64()),
            action: action.clone(),
            direction,
            bytes: shown.primary.bytes,
            seconds: round(shown.primary.seconds),
            beside_bytes: shown.beside_bytes,
            cut: shown.primary.cut,
            ended: shown.ended,
            ping: shown.ping,
            call: shown.call,
            clock_jump_s: jump,
        };
        self.keep(&Record::Measurement(measurement.clone()));
        let (primary, beside) = (measurement.primary_mbit(), measurement.beside_mbit());
        self.progress.add(measurement);
        self.learn(self.progress.measurements.len() - 1);
        let beside = if action.beside.is_some() {
            format!(" beside {beside:.2}")
        } else {
            String::new()
        };
        let left = self.plan.stop.left(&self.progress, self.elapsed());
        let count = self.progress.measurements.len();
        complain(format!(
            "{count}: {action} {direction}: {primary:.2}{beside} Mbit/s; {left}"
        ));
    }

    fn failed(&mut self, action: &Action, trouble: &Trouble) {
        let now = Reading::now();
        let elapsed_s = round(self.elapsed().as_secs_f64());
        let (action, why) = (action.clone(), trouble.to_string());
        self.keep(&Record::Failure(Failure {
            at: now.wall,
            elapsed_s,
            action,
            why,
        }));
    }

    /// The path's rate is what the foreground finds alone.
    fn learn(&mut self, index: usize) {
        let measurement = &self.progress.measurements[index];
        if measurement.action.primary == self.plan.actions[0].primary {
            self.sizing.learn(measurement);
        }
    }

    fn keep(&mut self, record: &Record) {
        if let Err(e) = self.results.append(record) {
            let kept = self.results.kept();
            complain(format!("{e}; {kept} records are kept in memory until there is room"));
        }
    }

    /// Waits, though not past the end.
    async fn rest(&self, pause: Duration) {
        let left = self
            .plan
            .stop
            .time
            .map(|time| Duration::from(time).saturating_sub(self.elapsed()));
        sleep(left.map_or(pause, |left| pause.min(left))).await;
    }
}

/// Intervals of a Poisson process, so that what the path does meets all phases of it.
fn exponential(mean: Duration) -> Duration {
    mean.mul_f64(-(1.0 - fastrand::f64()).ln())
}

fn round(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_exponential() {
        fastrand::seed(1);
        let mean = Duration::from_secs(60);
        let drawn: Vec<f64> = (0..20_000).map(|_| exponential(mean).as_secs_f64()).collect();
        let average = drawn.iter().sum::<f64>() / drawn.len() as f64;
        assert!((average / 60.0 - 1.0).abs() < 0.03, "{average}");
        let longer = drawn.iter().filter(|&&x| x > 120.0).count() as f64 / drawn.len() as f64;
        assert!((longer - (-2.0f64).exp()).abs() < 0.01, "{longer}");
    }
}
