//! Runs on disk, and the bare `SQLite` transactions that they are held against.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use plangate_approval::{Approvals, Decision, Person, Row, RowState, RunId, SqliteStore, Storage};
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

/// `SQLite` as the store sets it up (write-ahead log, `synchronous = FULL`), without the store.
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
    /// How many transactions parking needs: start, ask, park.
    pub const TO_PARK: usize = 3;
    /// How many transactions approving needs: the vote.
    pub const TO_APPROVE: usize = 1;
    /// How many transactions resuming needs: lease, claim, outcome, end.
    pub const TO_RESUME: usize = 4;

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
        for (run, row) in self.parked(1)? {
            self.execute(&run, &row)?;
        }
        Ok(())
    }

    /// How many commits approving and executing takes, for each of so many parked runs one after the other: counted in
    /// the write-ahead log, where each commit ends with a frame that says so.
    pub fn commits_to_execute(&self, runs: usize) -> Fallible<Vec<usize>> {
        // While somebody reads what was there before, nothing is taken out of the log.
        let reader = open(&self.disk.file())?;
        reader.execute_batch("BEGIN; SELECT count(*) FROM run;")?;
        let mut counted = Vec::new();
        for (run, row) in self.parked(runs)? {
            let before = commits(&self.disk.file())?;
            self.execute(&run, &row)?;
            counted.push(commits(&self.disk.file())? - before);
        }
        reader.execute_batch("ROLLBACK")?;
        Ok(counted)
    }

    /// Parks so many runs.
    pub fn parked(&self, runs: usize) -> Fallible<Vec<(RunId, Row)>> {
        let mut parked = Vec::new();
        for _ in 0..runs {
            let Ended::Parked { run, waiting, .. } = self.executor.run(&self.plan, start())? else {
                return Err("it did not park".into());
            };
            let row = waiting.into_iter().next().ok_or("nobody is asked")?;
            parked.push((run, row));
        }
        Ok(parked)
    }

    /// Approves a parked run and resumes it to its end.
    ///
    /// # Panics
    /// If it does not end well.
    pub fn execute(&self, run: &RunId, row: &Row) -> Fallible<()> {
        self.approve(row)?;
        self.resume(run)
    }

    /// Approves what a parked run waits for.
    pub fn approve(&self, row: &Row) -> Fallible<()> {
        let by = Person { issuer: "bench".into(), subject: "bob".into(), roles: Vec::new(), verified: true };
        let yes = Decision { row: row.id.clone(), seen: row.digest, by, yes: true, reason: None };
        let decided = Approvals::new(Arc::clone(self.disk.store())).decide(&yes)?;
        if decided.state != RowState::Approved {
            return Err(format!("the row is {:?}", decided.state).into());
        }
        Ok(())
    }

    /// Resumes an approved run to its end.
    ///
    /// # Panics
    /// If it does not end well.
    pub fn resume(&self, run: &RunId) -> Fallible<()> {
        ended(&self.executor.resume(run, None)?);
        Ok(())
    }

    /// Parks so many runs that nobody decides.
    pub fn park(&self, runs: usize) -> Fallible<()> {
        self.parked(runs).map(drop)
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

    /// The bare query behind the queue, over the same file.
    pub fn bare_queue(&self) -> Fallible<BareQueue> {
        Ok(BareQueue { db: open(&self.disk.file())? })
    }
}

/// The query of the queue, without the store: the same rows and columns, read as `SQLite` has them.
#[derive(Debug)]
pub struct BareQueue {
    db: Connection,
}

impl BareQueue {
    /// Reads everything that waits, and says how many rows that are.
    pub fn read(&self) -> Fallible<usize> {
        let mut find = self.db.prepare_cached(
            "SELECT a.*, run.fence, run.holder, run.lease_until FROM approval a LEFT JOIN run ON run.id = a.run
             WHERE a.state IN ('pending', 'approved', 'claimed', 'uncertain') ORDER BY a.seq",
        )?;
        let columns = find.column_count();
        let mut found = find.query([])?;
        let mut rows = 0;
        while let Some(row) = found.next()? {
            for column in 0..columns {
                std::hint::black_box(row.get::<_, rusqlite::types::Value>(column)?);
            }
            rows += 1;
        }
        Ok(rows)
    }
}

/// Commits in the write-ahead log of this database, from its beginning.
///
/// Format: a header of 32 bytes with page size and salts, then frames of 24 bytes and a page. A frame whose second number
/// is not zero ends a commit; frames with other salts are left from before the log began anew.
fn commits(database: &Path) -> Fallible<usize> {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let log = std::fs::read(log)?;
    let number =
        |at: usize| -> Option<u32> { Some(u32::from_be_bytes(log.get(at..at + 4)?.try_into().ok()?)) };
    let salts = |at: usize| Some((number(at)?, number(at + 4)?));
    let page = usize::try_from(number(8).ok_or("the log has no header")?)?;
    let ours = salts(16);
    let frames = (32..log.len()).step_by(24 + page).take_while(|at| salts(at + 8) == ours);
    Ok(frames.filter(|at| number(at + 4).is_some_and(|pages| pages > 0)).count())
}
