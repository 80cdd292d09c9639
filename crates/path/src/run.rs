// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One run, from options to exit status.

use std::ffi::OsString;
use std::fs::File;
use std::{env, io};

use anyhow::{Context, Result};
use nix::sys::signal::SigmaskHow;
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::direction::Settings;
use crate::emulator::Emulator;
use crate::endpoints::{self, Endpoints};
use crate::options::Options;
use crate::report::Report;
use crate::system::supervisor::{self, End, Supervisor};
use crate::system::{network, request_realtime};
use crate::trace::Trace;
use netnice_output::complain;

/// netnice-path itself failed.
pub const FAILED: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Does what the options say; the exit status.
pub fn run(options: &Options) -> Result<u8> {
    let path = options.path()?;
    let mask = supervisor::waited_for()
        .thread_swap_mask(SigmaskHow::SIG_BLOCK)
        .context("cannot block signals")?;
    let signals = SignalFd::with_flags(
        &supervisor::waited_for(),
        SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK,
    )
    .context("cannot wait for signals")?;

    // Files come first: a run must not fail at its end for want of a directory.
    let settings = [Settings::of(&path.up), Settings::of(&path.down)];
    let mut trace = match &options.trace {
        Some(file) => Some(Trace::create(file, options.trace_interval.into(), settings)?),
        None => None,
    };
    let summary = match &options.json {
        Some(file) => {
            Some(File::create(file).with_context(|| format!("cannot create the summary {}", file.display()))?)
        }
        None => None,
    };

    let home = network::current()?;
    let (endpoints, command) = match options.between.as_deref() {
        Some([a, b]) => {
            let endpoints = endpoints::between(&network::named(a)?, &network::named(b)?)?;
            (endpoints, options.command.clone())
        }
        _ => (endpoints::nested()?, command_or_shell(&options.command)),
    };
    let started = match command.as_slice() {
        [] => None,
        command => Some(Supervisor::start(
            command,
            &environment(&endpoints, options.between.is_some()),
            mask,
        )?),
    };
    network::enter(&home)?;
    announce(options, &endpoints);

    let granted = request_realtime();
    for refused in &granted.refused {
        complain(refused);
    }
    let mut emulator = Emulator::new(endpoints, path);
    if let Some(trace) = &mut trace {
        trace.start(emulator.started)?;
    }
    emulator.run(&signals, started.as_ref(), &mut trace)?;
    let status = match started {
        Some(supervisor) => finish(supervisor, &command[0])?,
        None => 0,
    };
    trace.map(Trace::finish).transpose()?;
    summarize(options.quiet, &Report::new(&mut emulator, granted.fifo), summary)?;
    Ok(status)
}

fn command_or_shell(command: &[OsString]) -> Vec<OsString> {
    if command.is_empty() {
        vec![env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())]
    } else {
        command.to_vec()
    }
}

fn environment(endpoints: &Endpoints, between: bool) -> Vec<(&'static str, String)> {
    let names = if between {
        ["NETNICE_PATH_A", "NETNICE_PATH_A6", "NETNICE_PATH_B", "NETNICE_PATH_B6"]
    } else {
        [
            "NETNICE_PATH_ADDRESS",
            "NETNICE_PATH_ADDRESS6",
            "NETNICE_PATH_PEER",
            "NETNICE_PATH_PEER6",
        ]
    };
    let [a, a6, b, b6] = names;
    let mut all = vec![
        (a, endpoints.a.address.to_string()),
        (b, endpoints.b.address.to_string()),
    ];
    all.extend(endpoints.a.address6.map(|address| (a6, address.to_string())));
    all.extend(endpoints.b.address6.map(|address| (b6, address.to_string())));
    all
}

/// With --between a program waits to hear that the path is there, and what its ends are called.
fn announce(options: &Options, endpoints: &Endpoints) {
    if let Some([a, b]) = options.between.as_deref() {
        let (end_a, end_b) = (&endpoints.a, &endpoints.b);
        complain(format_args!(
            "ready: {a} {} {} <-> {b} {} {}",
            end_a.tun.name(),
            end_a.address,
            end_b.tun.name(),
            end_b.address
        ));
    }
}

fn finish(supervisor: Supervisor, command: &OsString) -> Result<u8> {
    let (end, killed) = supervisor.wait()?;
    if killed > 0 {
        complain(format_args!(
            "killed {killed} processes that the command had left running"
        ));
    }
    Ok(match end {
        End::Exited(status) => status as u8,
        End::Signalled(signal) => 128 + signal as u8,
        End::NotStarted(code) => {
            let e = io::Error::from_raw_os_error(code);
            let command = command.to_string_lossy();
            if code == libc::ENOENT {
                complain(format_args!(
                    "'{command}' was not found: {e}; is it installed, and in PATH?"
                ));
                NOT_FOUND
            } else {
                complain(format_args!(
                    "cannot run '{command}': {e}; is it a program, and executable?"
                ));
                CANNOT_RUN
            }
        }
    })
}

fn summarize(quiet: bool, report: &Report, file: Option<File>) -> Result<()> {
    if !quiet {
        complain(report.to_string().trim_end());
    }
    if !report.trusted {
        complain("the machine was too busy, do not trust what was measured on this path:");
        for reason in &report.reasons {
            complain(reason);
        }
    }
    file.map_or(Ok(()), |file| serde_json::to_writer_pretty(file, report))
        .context("cannot write the summary")
}
