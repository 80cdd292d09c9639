// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The predictor of a running proxy, and the thread that writes what it learns every few seconds.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use netnice_output::complain;
use netnice_prefetch_predictor::{Changes, ContextRow, Params, Predictor, Request, UrlRow};
use redb::{Database, DatabaseError, ReadableTable, TableDefinition};
use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::{Error, Result};

/// A crash loses so much.
const WRITE_EVERY: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct Learner {
    predictor: Arc<Mutex<Predictor>>,
    writer: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

fn lock(predictor: &Mutex<Predictor>) -> MutexGuard<'_, Predictor> {
    predictor.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Learner {
    /// Goes on where `store` ended; without one all is forgotten in the end.
    pub fn start(params: Params, store: Option<Store>) -> Result<Self> {
        let predictor = match &store {
            Some(store) => store.read(params)?,
            None => Predictor::new(params)?,
        };
        let predictor = Arc::new(Mutex::new(predictor));
        let writer = match store {
            Some(store) => Some(write_on(predictor.clone(), store)?),
            None => None,
        };
        let writer = Mutex::new(writer);
        Ok(Self { predictor, writer })
    }

    pub fn learn(&self, client: u64, url: &str, page: bool, cachable: bool) {
        let at = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let request = Request {
            client,
            url,
            page,
            cachable,
            at,
        };
        lock(&self.predictor).learn(request);
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

    pub fn set_params(&self, params: Params) -> Result<()> {
        Ok(lock(&self.predictor).set_params(params)?)
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

const URLS: TableDefinition<u32, &[u8]> = TableDefinition::new("urls-1");
const CONTEXTS: TableDefinition<u32, &[u8]> = TableDefinition::new("contexts-1");

#[derive(Debug)]
pub struct Store {
    database: Database,
    path: PathBuf,
}

/// Where it is, unless somebody says otherwise.
pub fn usual_path() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let folder = variable("STATE_DIRECTORY").or_else(|| {
        let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")))?;
        Some(state.join("netnice-prefetch"))
    })?;
    Some(folder.join("learned.redb"))
}

impl Store {
    /// Makes the file and its folder where they are missing.
    pub fn open(path: &Path) -> Result<Self> {
        let path = path.to_owned();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| Error::Unwritable(folder.into(), e))?;
        }
        match Database::create(&path) {
            Ok(database) => Ok(Self { database, path }),
            Err(DatabaseError::DatabaseAlreadyOpen) => Err(Error::StoreInUse(path)),
            Err(e) => Err(Error::Store(path, e.to_string())),
        }
    }

    fn failed(&self) -> impl Fn(Failure) -> Error + '_ {
        |e| Error::Store(self.path.clone(), e.to_string())
    }

    pub fn read(&self, params: Params) -> Result<Predictor> {
        let (urls, contexts) = self.rows().map_err(self.failed())?;
        let decoded = |e: postcard::Error| Error::Store(self.path.clone(), e.to_string());
        let urls = decode::<UrlRow>(urls).map_err(decoded)?;
        let contexts = decode::<ContextRow>(contexts).map_err(decoded)?;
        Predictor::restore(params, urls, contexts).map_err(|e| Error::Store(self.path.clone(), e.to_string()))
    }

    fn rows(&self) -> std::result::Result<(Rows, Rows), Failure> {
        // Writing makes the tables of a new file.
        let begun = self.database.begin_write()?;
        let rows = (all(&begun.open_table(URLS)?)?, all(&begun.open_table(CONTEXTS)?)?);
        begun.commit()?;
        Ok(rows)
    }

    pub fn write(&self, changes: &Changes) -> Result<()> {
        let write = || -> std::result::Result<(), Failure> {
            let begun = self.database.begin_write()?;
            put(&mut begun.open_table(URLS)?, &changes.urls)?;
            put(&mut begun.open_table(CONTEXTS)?, &changes.contexts)?;
            begun.commit()?;
            Ok(())
        };
        write().map_err(self.failed())
    }
}

/// redb has an error type for each step, and one of 160 bytes for all.
type Failure = Box<dyn std::error::Error + Send + Sync>;
type Rows = Vec<(u32, Vec<u8>)>;

fn all(table: &impl ReadableTable<u32, &'static [u8]>) -> std::result::Result<Rows, Failure> {
    let mut rows = Vec::new();
    for row in table.iter()? {
        let (number, bytes) = row?;
        rows.push((number.value(), bytes.value().to_vec()));
    }
    Ok(rows)
}

fn decode<T: DeserializeOwned>(rows: Rows) -> postcard::Result<Vec<(u32, T)>> {
    rows.iter()
        .map(|(number, bytes)| Ok((*number, postcard::from_bytes(bytes)?)))
        .collect()
}

fn put<T: Serialize>(
    table: &mut redb::Table<'_, u32, &'static [u8]>,
    rows: &[(u32, Option<T>)],
) -> std::result::Result<(), Failure> {
    for (number, row) in rows {
        match row {
            Some(row) => {
                let bytes = postcard::to_allocvec(row)?;
                table.insert(number, bytes.as_slice())?;
            }
            None => {
                table.remove(number)?;
            }
        }
    }
    Ok(())
}
