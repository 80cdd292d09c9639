// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! `netnice-replay play`: all virtual clients on one thread, until all is played or the time is up.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{bail, ensure, Context};
use netnice_output::{complain, print};
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{sleep, sleep_until, Instant};

use crate::connection::Reply;
use crate::lane::{Lane, Server};
use crate::options::Play;
use crate::prefetcher::{self, Kept, Prefetched, Shared};
use crate::report::{Demanded, From, Record, Report};
use crate::trace::{Trace, View, Visit};

const SAY_EVERY: Duration = Duration::from_secs(5);
const PREFETCH: &str = "Sec-Purpose: prefetch\r\n";

pub fn open(log: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    if log == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(log).with_context(|| format!("cannot read the log {}", log.display()))?;
    Ok(Box::new(BufReader::new(file)))
}

pub fn run(options: &Play) -> anyhow::Result<()> {
    let stretch = options.think;
    ensure!((0.0..1e6).contains(&stretch), "--think must be 0 or above");
    ensure!(options.clients > 0, "--clients must be at least 1");
    ensure!(options.pipeline > 0, "--pipeline must be at least 1");
    ensure!(
        options.prefetches > 0,
        "--prefetches must be at least 1; or say --no-prefetch"
    );
    let server = Server::find(&options.server)?;
    let trace =
        Trace::read(open(&options.log)?).with_context(|| format!("cannot read the log {}", options.log.display()))?;
    if trace.requests == 0 {
        bail!(
            "{} has no request that can be played; {} lines are of no log that is known, or of forms, errors and people",
            options.log.display(),
            trace.skipped
        );
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let dealt = trace.deal(options.clients);
    let report = LocalSet::new().block_on(&runtime, replay(options, &server, dealt))?;
    let text = match options.json {
        true => serde_json::to_string(&report)?,
        false => report.to_string(),
    };
    Ok(print(text)?)
}

async fn replay(options: &Play, server: &Server, dealt: Vec<Vec<Visit>>) -> anyhow::Result<Report> {
    let begin = Instant::now();
    let record = Rc::new(Record::default());
    let mut all = Vec::new();
    let (mut clients, mut prefetchers) = (JoinSet::new(), JoinSet::new());
    for (number, visits) in dealt.into_iter().enumerate() {
        let shared = Shared::new(options.cache.0);
        all.push(shared.clone());
        let agent = format!("netnice-replay/{} client/{number}", env!("CARGO_PKG_VERSION"));
        let lane = |purpose, depth| Lane::new(server, agent.clone(), purpose, depth);
        if !options.no_prefetch {
            for _ in 0..options.prefetches {
                prefetchers.spawn_local(prefetcher::run(shared.clone(), lane(PREFETCH, 1)));
            }
        }
        let client = Client {
            lane: lane("", options.pipeline),
            shared,
            record: record.clone(),
            begin,
            stretch: options.think,
        };
        clients.spawn_local(client.play(visits));
    }
    let playing = async {
        while let Some(ended) = clients.join_next().await {
            ended??;
        }
        anyhow::Ok(())
    };
    let broken = async {
        match prefetchers.join_next().await {
            Some(ended) => Ok(ended??),
            None => std::future::pending().await,
        }
    };
    let time_is_up = async {
        match options.seconds {
            Some(seconds) => sleep(seconds.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        done = playing => done,
        broken = broken => broken,
        () = time_is_up => Ok(()),
        () = progress(&record, begin) => Ok(()),
    }
    .with_context(|| format!("{} does not answer as it should", options.server))?;
    let warmup = options.warmup.into();
    Ok(Report::new(all.len(), &record, sum(&all), begin, warmup))
}

/// For a watching user, for ever.
async fn progress(record: &Record, begin: Instant) {
    if !io::stderr().is_terminal() {
        std::future::pending::<()>().await;
    }
    loop {
        sleep(SAY_EVERY).await;
        let text = format!("{:.0} s: {}", begin.elapsed().as_secs_f64(), record.so_far());
        complain(text);
    }
}

fn sum(all: &[Rc<Shared>]) -> Prefetched {
    let mut sum = Prefetched::default();
    for shared in all {
        let one = *shared.prefetched.borrow();
        sum.asked += one.asked;
        sum.arrived += one.arrived;
        sum.refused += one.refused;
        sum.given_up += one.given_up;
        sum.bytes += one.bytes;
        sum.wasted_bytes += one.wasted_bytes + shared.cache.borrow().unused();
    }
    sum
}

/// A user, a cache, a connection for what is demanded.
pub struct Client {
    pub lane: Lane,
    pub shared: Rc<Shared>,
    pub record: Rc<Record>,
    /// When the log begins.
    pub begin: Instant,
    /// Times of the log are so many times as long here.
    pub stretch: f64,
}

impl Client {
    /// The server cannot be reached, or its reply is no HTTP.
    pub async fn play(mut self, visits: Vec<Visit>) -> io::Result<()> {
        for visit in visits {
            sleep_until(self.begin + self.stretched(visit.begins)).await;
            let mut referrer = None;
            for view in visit.views {
                self.view(&view, referrer.as_deref()).await?;
                sleep(self.stretched(view.think)).await;
                referrer = Some(view.page);
            }
        }
        Ok(())
    }

    fn stretched(&self, time: Duration) -> Duration {
        time.mul_f64(self.stretch)
    }

    async fn view(&mut self, view: &View, referrer: Option<&str>) -> io::Result<()> {
        let began = Instant::now();
        let page = std::slice::from_ref(&view.page);
        let hints = self.demand(page, referrer).await?;
        // Before the page's own parts: they are demanded at once, and take their turn on another connection.
        self.shared.demand(&view.embedded);
        self.shared.suggest(&view.page, &hints);
        self.demand(&view.embedded, Some(&view.page)).await?;
        self.record.view(began);
        Ok(())
    }

    /// Until all is there. Gives the hints on the first.
    async fn demand(&mut self, urls: &[String], referrer: Option<&str>) -> io::Result<Vec<String>> {
        let wanted = Instant::now();
        let mut hints = Vec::new();
        let mut missing = Vec::new();
        for (number, url) in urls.iter().enumerate() {
            let kept = self.shared.cache.borrow_mut().take(url);
            match kept {
                Some(kept) => {
                    let from = if kept.unused { From::Prefetch } else { From::Cache };
                    self.record.came(Demanded::at_once(url, from, wanted));
                    self.shared.has_come(url);
                    if number == 0 {
                        hints = kept.hints;
                    }
                }
                None if missing.contains(url) => {}
                None => missing.push(url.clone()),
            }
        }
        self.shared.demand(&missing);
        self.record.wait(&missing, wanted);
        let (shared, record) = (&self.shared, &self.record);
        let first = urls.first();
        let arrived = |number: usize, reply: Reply| {
            let url = &missing[number];
            shared.has_come(url);
            record.arrived(url, wanted, &reply);
            if Some(url) == first {
                hints.clone_from(&reply.hints);
            }
            if reply.storable {
                let kept = Kept {
                    bytes: reply.bytes,
                    hints: reply.hints,
                    unused: false,
                };
                shared.cache.borrow_mut().put(url, kept);
            }
        };
        self.lane.fetch(&missing, referrer, arrived).await?;
        Ok(hints)
    }
}
