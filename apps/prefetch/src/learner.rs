// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The predictor of a running proxy, and the thread that writes what it learns every few seconds.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use netnice_output::complain;
use netnice_prefetch_predictor::{Predictor, Request};

use crate::clients::{new_key, Clients};
use crate::config::Prefetch;
use crate::store::Store;
use crate::{Error, Result};

/// A crash loses so much.
const WRITE_EVERY: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct Learner {
    pub clients: Clients,
    predictor: Arc<Mutex<Predictor>>,
    writer: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

fn lock(predictor: &Mutex<Predictor>) -> MutexGuard<'_, Predictor> {
    predictor.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Learner {
    /// Goes on where `store` ended; without one all is forgotten in the end.
    pub fn start(config: &Prefetch, store: Option<Store>) -> Result<Self> {
        let params = config.params();
        let (mut predictor, key) = match &store {
            Some(store) => (store.read(params)?, store.key),
            None => (Predictor::new(params)?, new_key().map_err(Error::Start)?),
        };
        predictor.set_queries(config.queries.clone());
        let predictor = Arc::new(Mutex::new(predictor));
        let writer = match store {
            Some(store) => Some(write_on(predictor.clone(), store)?),
            None => None,
        };
        let writer = Mutex::new(writer);
        let clients = Clients::new(&key);
        Ok(Self {
            clients,
            predictor,
            writer,
        })
    }

    /// A browser of a network asked for `url`; `reusable` where its reply was for every user to see.
    pub fn learn(&self, client: u64, network: u64, url: &str, page: bool, reusable: Option<bool>) {
        let at = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let request = Request {
            client,
            network: Some(network),
            url,
            page,
            reusable,
            at,
        };
        lock(&self.predictor).learn(request);
    }

    /// Its latest reply is not for every user.
    pub fn withdraw(&self, url: &str) {
        lock(&self.predictor).withdraw(url);
    }

    /// More than will be told: the client may know some already.
    pub fn predict(&self, client: u64, most: usize) -> Vec<String> {
        let predictor = lock(&self.predictor);
        predictor
            .predict(client, most)
            .iter()
            .map(|p| p.url.to_owned())
            .collect()
    }

    /// What a client that came to `page` may ask for.
    pub fn predict_after(&self, page: &str, most: usize) -> Vec<String> {
        let predictor = lock(&self.predictor);
        predictor
            .predict_after(&[page], most)
            .iter()
            .map(|p| p.url.to_owned())
            .collect()
    }

    pub fn pause(&self) -> Duration {
        lock(&self.predictor).params().pause
    }

    pub fn configure(&self, config: &Prefetch) -> Result<()> {
        let mut predictor = lock(&self.predictor);
        predictor.set_queries(config.queries.clone());
        Ok(predictor.set_params(config.params())?)
    }

    /// Contexts, URLs, bytes.
    pub fn size(&self) -> (usize, usize, usize) {
        lock(&self.predictor).size()
    }

    /// Writes what is not yet written.
    pub fn stop(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, thread)) = writer {
            drop(stop);
            // It ends by itself, and has said what failed.
            thread.join().ok();
        }
    }
}

fn write_on(predictor: Arc<Mutex<Predictor>>, store: Store) -> Result<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = mpsc::channel();
    let write = move || loop {
        let last = stopped.recv_timeout(WRITE_EVERY) != Err(RecvTimeoutError::Timeout);
        let changes = lock(&predictor).changes();
        if !changes.is_empty() {
            if let Err(e) = store.write(&changes) {
                complain(format!("what was learned is not kept: {e}"));
                break;
            }
        }
        if last {
            break;
        }
    };
    let thread = std::thread::Builder::new().name("store".into()).spawn(write);
    Ok((stop, thread.map_err(Error::Start)?))
}
