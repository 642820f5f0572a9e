//! Runs on disk, and the bare SQLite transactions that they are held against.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use plangate_approval::{Approvals, Decision, Person, RowState, SqliteStore, Storage};
use plangate_executor::{Ended, Executor};
use plangate_graph::VerifiedPlan;
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::{Host, effects, ended, executor, start, verified};

/// What a bench may fail of.
pub type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A store of its own in a folder that goes away.
#[derive(Debug)]
pub struct Disk {
    folder: TempDir,
    store: Arc<SqliteStore>,
}

impl Disk {
    /// An empty store.
    pub fn new() -> Fallible<Disk> {
        let folder = tempfile::tempdir()?;
        let store = Arc::new(SqliteStore::open(folder.path().join("state.db"))?);
        Ok(Disk { folder, store })
    }

    /// An executor over it, with default settings and tools that answer at once.
    pub fn executor(&self) -> Executor<SqliteStore> {
        executor(&self.store, Host::new())
    }

    /// The store.
    pub fn store(&self) -> &Arc<SqliteStore> {
        &self.store
    }

    /// The file.
    pub fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("state.db")
    }
}

/// SQLite as the store sets it up (write-ahead log, `synchronous = FULL`), without the store.
#[derive(Debug)]
pub struct Bare {
    _folder: TempDir,
    db: Connection,
    next: i64,
}

impl Bare {
    /// A table like that of the steps, empty.
    pub fn new() -> Fallible<Bare> {
        let folder = tempfile::tempdir()?;
        let db = open(&folder.path().join("bare.db"))?;
        db.execute_batch(
            "CREATE TABLE step (run TEXT, node INTEGER, detail BLOB, PRIMARY KEY (run, node)) STRICT",
        )?;
        Ok(Bare { _folder: folder, db, next: 0 })
    }

    /// One transaction that writes so many rows of 200 bytes.
    pub fn commit(&mut self, rows: usize) -> Fallible<()> {
        self.db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        for _ in 0..rows {
            self.next += 1;
            self.db
                .prepare_cached("INSERT INTO step VALUES ('run', ?1, ?2)")?
                .execute(params![self.next, [7_u8; 200]])?;
        }
        self.db.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

fn open(path: &Path) -> Fallible<Connection> {
    let db = Connection::open(path)?;
    db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
    Ok(db)
}

/// A run that parks at its only step, is approved and resumed.
#[derive(Debug)]
pub struct Parking {
    disk: Disk,
    executor: Executor<SqliteStore>,
    plan: VerifiedPlan,
}

impl Parking {
    /// How many transactions parking and resuming need: start, ask, park; vote; lease, claim, outcome, end.
    pub const TRANSACTIONS: usize = 8;

    /// On a disk of its own.
    pub fn new() -> Fallible<Parking> {
        let disk = Disk::new()?;
        Ok(Parking { executor: disk.executor(), plan: verified(&effects(1)), disk })
    }

    /// Starts a run that parks, approves it and resumes it to its end.
    ///
    /// # Panics
    /// If it does anything else.
    pub fn there_and_back(&self) -> Fallible<()> {
        let Ended::Parked { run, waiting, .. } = self.executor.run(&self.plan, start())? else {
            return Err("it did not park".into());
        };
        let row = waiting.first().ok_or("nobody is asked")?;
        let by = Person { issuer: "bench".into(), subject: "bob".into(), roles: Vec::new(), verified: true };
        let yes = Decision { row: row.id.clone(), seen: row.digest, by, yes: true, reason: None };
        let decided = Approvals::new(Arc::clone(self.disk.store())).decide(&yes)?;
        if decided.state != RowState::Approved {
            return Err(format!("the row is {:?}", decided.state).into());
        }
        ended(&self.executor.resume(&run, None)?);
        Ok(())
    }

    /// Parks so many runs that nobody decides.
    pub fn park(&self, runs: usize) -> Fallible<()> {
        for _ in 0..runs {
            let Ended::Parked { .. } = self.executor.run(&self.plan, start())? else {
                return Err("it did not park".into());
            };
        }
        Ok(())
    }

    /// Bytes of the file once everything in it is in its place.
    pub fn bytes_on_disk(&self) -> Fallible<u64> {
        let db = Connection::open(self.disk.file())?;
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        // What is stored, without pages that are free.
        let number = |name: &str| -> Fallible<u64> {
            Ok(u64::try_from(db.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0))?)?)
        };
        Ok((number("page_count")? - number("freelist_count")?) * number("page_size")?)
    }

    /// The store.
    pub fn store(&self) -> &impl Storage {
        &**self.disk.store()
    }
}
