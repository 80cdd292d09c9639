// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is learned, in a file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use netnice_output::complain;
use netnice_prefetch_predictor::{Changes, ContextRow, Params, Predictor, UrlRow};
use redb::{Database, DatabaseError, ReadableTable, TableDefinition};
use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::clients::{new_key, Key};
use crate::{Error, Result};

/// Opens a file; if it is new, only its owner may read it.
pub fn private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.create(true).mode(0o600).open(path)
}

type Rows = TableDefinition<'static, u32, &'static [u8]>;

const URLS: Rows = TableDefinition::new("urls-2");
const CONTEXTS: Rows = TableDefinition::new("contexts-2");
const KEY: TableDefinition<(), &Key> = TableDefinition::new("key-2");
/// They counted changes of the client, programs as clients, and took URLs of logs for known.
const OLD: [Rows; 2] = [TableDefinition::new("urls-1"), TableDefinition::new("contexts-1")];

#[derive(Debug)]
pub struct Store {
    database: Database,
    path: PathBuf,
    pub key: Key,
}

/// The default path of the store.
pub fn usual_path() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let folder = variable("STATE_DIRECTORY").or_else(|| {
        let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")))?;
        Some(state.join("netnice-prefetch"))
    })?;
    Some(folder.join("learned.redb"))
}

impl Store {
    /// Makes the file and its folder where they are missing. Only its owner may read what visitors asked for.
    pub fn open(path: &Path) -> Result<Self> {
        let path = path.to_owned();
        let unwritable = |e| Error::Unwritable(path.clone(), e);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| Error::Unwritable(folder.into(), e))?;
        }
        let file = private(OpenOptions::new().read(true).write(true), &path).map_err(unwritable)?;
        let mode = file.metadata().map_err(unwritable)?.permissions().mode();
        if mode & 0o077 != 0 {
            file.set_permissions(PermissionsExt::from_mode(0o600))
                .map_err(unwritable)?;
        }
        let database = match Database::builder().create_file(file) {
            Ok(database) => database,
            Err(DatabaseError::DatabaseAlreadyOpen) => return Err(Error::StoreInUse(path)),
            Err(e) => return Err(Error::Store(path, e.to_string())),
        };
        let (key, discarded) = prepare(&database).map_err(|e| Error::Store(path.clone(), e.to_string()))?;
        if discarded {
            complain(format!(
                "{}: an older version learned this, and did not tell clients apart: it is discarded. \
                 'netnice-prefetch train LOG' teaches anew",
                path.display()
            ));
        }
        Ok(Self { database, path, key })
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

    fn rows(&self) -> std::result::Result<(Encoded, Encoded), Failure> {
        let begun = self.database.begin_read()?;
        Ok((all(&begun.open_table(URLS)?)?, all(&begun.open_table(CONTEXTS)?)?))
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
type Encoded = Vec<(u32, Vec<u8>)>;

/// Makes the tables of a new file, and empties one of an older version. Gives the key, and whether there was any.
fn prepare(database: &Database) -> std::result::Result<(Key, bool), Failure> {
    let begun = database.begin_write()?;
    let mut discarded = false;
    for table in OLD {
        discarded |= begun.delete_table(table)?;
    }
    begun.open_table(URLS)?;
    begun.open_table(CONTEXTS)?;
    let key = {
        let mut table = begun.open_table(KEY)?;
        let kept = table.get(())?.map(|key| *key.value());
        let key = kept.map_or_else(new_key, Ok)?;
        table.insert((), &key)?;
        key
    };
    begun.commit()?;
    Ok((key, discarded))
}

fn all(table: &impl ReadableTable<u32, &'static [u8]>) -> std::result::Result<Encoded, Failure> {
    let mut rows = Vec::new();
    for row in table.iter()? {
        let (number, bytes) = row?;
        rows.push((number.value(), bytes.value().to_vec()));
    }
    Ok(rows)
}

fn decode<T: DeserializeOwned>(rows: Encoded) -> postcard::Result<Vec<(u32, T)>> {
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
