// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One virtual client: its user's visits, page by page.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::{sleep, sleep_until, Instant};

use crate::cache::Kept;
use crate::connection::Reply;
use crate::lane::Lane;
use crate::prefetcher::Shared;
use crate::report::{Demanded, From, Record};
use crate::trace::{View, Visit};

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
    /// # Errors
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
                    let from = if kept.unused {
                        From::Prefetch
                    } else {
                        From::Cache
                    };
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
