// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What was learned, on disk. A transaction takes all changes or none, so what is read always fits together.

use std::path::{Path, PathBuf};

use netnice_prefetch_predictor::{Changes, ContextRow, Params, Predictor, UrlRow};
use redb::{Database, DatabaseError, ReadableTable, TableDefinition};
use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::{Error, Result};

const URLS: TableDefinition<u32, &[u8]> = TableDefinition::new("urls-1");
const CONTEXTS: TableDefinition<u32, &[u8]> = TableDefinition::new("contexts-1");

#[derive(Debug)]
pub struct Store {
    database: Database,
    path: PathBuf,
}

/// Where it is, unless somebody says otherwise.
pub fn usual_path() -> Option<PathBuf> {
    let variable = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    let folder = variable("STATE_DIRECTORY").or_else(|| {
        let state =
            variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")))?;
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
        Predictor::restore(params, urls, contexts)
            .map_err(|e| Error::Store(self.path.clone(), e.to_string()))
    }

    fn rows(&self) -> std::result::Result<(Rows, Rows), Failure> {
        // Writing makes the tables of a new file.
        let begun = self.database.begin_write()?;
        let rows = (
            all(&begun.open_table(URLS)?)?,
            all(&begun.open_table(CONTEXTS)?)?,
        );
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
