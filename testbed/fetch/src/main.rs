// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-fetch`: clients that fetch documents from a real HTTP server, open loop, and say how long
//! each took.

mod demand;
mod report;
mod run;

use std::fs::File;
use std::io::BufWriter;
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, Context, Result};
use clap::Parser;
use netnice_output::{complain, print};
use netnice_units::{seconds, Rate, Size, Time};

use demand::{Demand, Sizes};

use report::{Report, Summary};
use run::{Server, Window};

/// Fetch documents of heavy-tailed sizes from an HTTP server and measure how long each takes.
///
/// The clients are open loop: the time and the length of a document depend on the seed alone. Each is
/// requested at its time over a fresh HTTP/1.1 connection, whether or not earlier ones have arrived. So the same seed offers the same demand to every network.
///
/// Sizes are bounded Pareto with exponent --alpha between --min and --max. With the defaults the mean
/// is 16,490 bytes, the median 7,290, and one document in a hundred is longer than 172 KB. Any size comes
/// from one file: the server must support Range, and the file must be at least --max bytes long.
///
/// A document's latency runs from the moment it is wanted, when its connection is begun, to its last
/// byte. The timer's lateness is part of it, and is reported as start_late.
#[derive(Debug, Parser)]
#[command(name = "netnice-fetch", version)]
struct Options {
    /// The file all documents are taken from, for example http://10.0.0.1:8080/documents
    url: String,

    /// How many clients; each is a Poisson process of its own
    #[arg(long, default_value_t = 12)]
    clients: u32,

    /// Document bits per second, all clients together: 500kbit, 5mbit, 1gbit
    #[arg(long, default_value = "5mbit")]
    load: Rate,

    /// Measured seconds
    #[arg(long, default_value = "30", value_parser = seconds)]
    seconds: Time,

    /// Seconds of the same load before the measured ones
    #[arg(long, default_value = "0", value_parser = seconds)]
    warmup: Time,

    /// Seconds to wait after the end for documents still under way
    #[arg(long, default_value = "3", value_parser = seconds)]
    grace: Time,

    /// Which demand: the same number gives the same times and sizes
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Exponent of the size distribution; smaller has a heavier tail
    #[arg(long, default_value_t = 1.2)]
    alpha: f64,

    /// Smallest document: bytes, or 4k, 1m, 60kB
    #[arg(long, default_value = "4k")]
    min: Size,

    /// Largest document: bytes, or 64k, 1m
    #[arg(long, default_value = "1m")]
    max: Size,

    /// Write everything as JSON: demand, summary, bytes over time, each document
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write one line a document
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    match fetch(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format_args!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn fetch(options: &Options) -> Result<()> {
    if options.seconds == Time::ZERO {
        bail!("--seconds is 0: nothing would be measured; give at least 1");
    }
    let server = server(&options.url)?;
    let demand = Demand {
        clients: options.clients,
        load_bps: options.load.bits() as f64,
        horizon_s: options.warmup.as_secs_f64() + options.seconds.as_secs_f64(),
        seed: options.seed,
        sizes: Sizes {
            alpha: options.alpha,
            min: options.min.bytes(),
            max: options.max.bytes(),
        },
    };
    let arrivals = demand.arrivals()?;
    let window = Window {
        warmup: options.warmup.into(),
        length: options.seconds.into(),
        grace: options.grace.into(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("could not start the runtime")?;
    let (cc, outcome) = runtime.block_on(async {
        let cc = server
            .congestion_control()
            .await
            .with_context(|| format!("{} does not answer", options.url))?;
        anyhow::Ok((cc, run::run(&server, &arrivals, window).await))
    })?;

    let report = Report {
        summary: Summary::of(&outcome.documents, outcome.window_bytes, options.seconds.as_secs_f64()),
        mean_document_bytes: demand.sizes.mean(),
        demand,
        warmup_s: options.warmup.as_secs_f64(),
        seconds: options.seconds.as_secs_f64(),
        started_monotonic_us: outcome.started_monotonic_us,
        client_congestion_control: cc,
        timeline: outcome.timeline,
        documents: outcome.documents,
    };
    write_files(options, &report)?;
    if options.json {
        print(serde_json::to_string_pretty(&report.summary)?)?;
    } else {
        print(&report.summary)?;
    }
    verdict(&report)
}

fn write_files(options: &Options, report: &Report) -> Result<()> {
    if let Some(path) = &options.output {
        let what = || format!("could not write {}", path.display());
        let file = File::create(path).with_context(what)?;
        serde_json::to_writer(BufWriter::new(file), report).with_context(what)?;
    }
    if let Some(path) = &options.csv {
        let what = || format!("could not write {}", path.display());
        let file = File::create(path).with_context(what)?;
        report::write_csv(&report.documents, BufWriter::new(file)).with_context(what)?;
    }
    Ok(())
}

/// Unfinished documents are a result; failed ones and an empty window are not.
fn verdict(report: &Report) -> Result<()> {
    let summary = &report.summary;
    if summary.documents == 0 {
        bail!("no document was wanted in the measured window: use more --seconds or --load");
    }
    if summary.failed > 0 {
        let first = report.documents.iter().find_map(|d| d.error.as_deref());
        bail!(
            "{} of {} documents failed; the first: {}",
            summary.failed,
            summary.documents,
            first.unwrap_or("failed after the window")
        );
    }
    Ok(())
}

fn server(url: &str) -> Result<Server> {
    let Some(rest) = url.strip_prefix("http://") else {
        bail!("'{url}' is not an http:// address; TLS is not supported");
    };
    let (host, path) = match rest.split_once('/') {
        Some((host, path)) => (host, format!("/{path}")),
        None => (rest, "/".to_owned()),
    };
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    let with_port = if has_port {
        host.to_owned()
    } else {
        format!("{host}:80")
    };
    let address = with_port
        .to_socket_addrs()
        .with_context(|| format!("could not resolve '{host}'"))?
        .next()
        .with_context(|| format!("'{host}' has no address"))?;
    Ok(Server {
        address,
        host: host.to_owned(),
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_need_no_port() {
        let s = server("http://127.0.0.1/x/y").unwrap();
        assert_eq!(
            (s.address.port(), s.path.as_str(), s.host.as_str()),
            (80, "/x/y", "127.0.0.1")
        );
        assert_eq!(server("http://127.0.0.1:8080").unwrap().address.port(), 8080);
        assert_eq!(server("http://[::1]/d").unwrap().address.port(), 80);
        assert!(server("https://127.0.0.1/").is_err());
    }

    #[test]
    fn the_help_states_the_default_sizes() {
        use clap::CommandFactory;
        let sizes = Sizes {
            alpha: 1.2,
            min: 4096,
            max: 1 << 20,
        };
        let help = Options::command().render_long_help().to_string();
        assert!(help.contains("16,490"), "{}", sizes.mean());
        assert_eq!(sizes.mean().round() as u64, 16_490);
        assert_eq!(sizes.quantile(0.5), 7290);
        assert_eq!(sizes.quantile(0.99) / 1000, 172);
    }
}
