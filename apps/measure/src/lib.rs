// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-measure`: what background transfers cost on a real path between two machines, and how much they find.
//!
//! The measurement of TCP Nice (Venkataramani, Kokku, Dahlin, OSDI 2002), section 5, as a tool.

pub mod action;
mod cli;
mod congestion;
pub mod report;
pub mod results;
mod run;
mod serve;
pub mod statistics;
pub mod summary;
mod token;
mod wire;

use std::future::Future;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::CommandFactory;
use tokio::signal::unix::{signal, SignalKind};

pub use cli::{Cli, Command};
use netnice_output::complain;
use report::Report;
use run::{Plan, Stop, Target};
use serve::{Limits, Server};
use token::Token;

/// A signal ended it before it was enough.
const STOPPED: u8 = 3;

/// For manual pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Does what the command line asks for.
/// It cannot be done; the text says why, and what to do.
pub fn execute(command: Command) -> Result<ExitCode> {
    match command {
        Command::Token { file } => {
            Token::create(&file).with_context(|| format!("cannot make {}", file.display()))?;
            complain(format!(
                "made {}; copy it to the other end, readable by its user only",
                file.display()
            ));
            Ok(ExitCode::SUCCESS)
        }
        Command::Serve(options) => runtime()?.block_on(serve(&options)),
        Command::Run(options) => runtime()?.block_on(run(options)),
        Command::Report(options) => report(&options),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")
}

async fn serve(options: &cli::Serve) -> Result<ExitCode> {
    let token = Token::read(&options.token)?;
    let limits = Limits {
        rate: options.rate,
        transfer: options.transfer,
        time: options.time,
        daily: options.daily,
        connections: options.connections.into(),
    };
    let server = Server::bind(options.listen, token, limits)?;
    complain(format!("listening at {}, TCP and UDP", server.address()?));
    tokio::select! {
        () = server.run() => {}
        () = signalled()? => {}
    }
    Ok(ExitCode::SUCCESS)
}

async fn run(options: cli::Run) -> Result<ExitCode> {
    let token = Token::read(&options.token)?;
    let target = Target {
        host: options.host,
        port: options.port,
        token,
    };
    let plan = Plan {
        actions: options.actions,
        direction: options.direction,
        interval: options.interval.into(),
        transfer: options.transfer.into(),
        output: options.output.clone(),
        stop: Stop {
            time: options.time,
            bytes: options.bytes,
            confidence: options.confidence,
        },
    };
    let mut run = run::Run::open(target, plan)?;
    let enough = tokio::select! {
        enough = run.until_enough() => Some(enough?),
        () = signalled()? => None,
    };
    let (count, path) = (run.progress().measurements.len(), options.output.display());
    run.finish()?;
    if count > 0 {
        netnice_output::print(Report::read(&options.output)?.sentences().join("\n"))?;
    }
    Ok(match enough {
        Some(why) => {
            complain(format!("{why}: {count} measurements are in {path}"));
            ExitCode::SUCCESS
        }
        None => {
            complain(format!(
                "stopped: {count} measurements are in {path}; the same command goes on"
            ));
            ExitCode::from(STOPPED)
        }
    })
}

fn report(options: &cli::Report) -> Result<ExitCode> {
    let report = Report::read(&options.results)?;
    netnice_output::print(report.text())?;
    if let Some(folder) = &options.to {
        for path in report.write(folder)? {
            complain(format!("wrote {}", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits for a signal to end.
fn signalled() -> Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
