//! The embedded store: one `SQLite` file, for several processes under one kernel on a local disk.
//!
//! Write-ahead log with `synchronous = FULL`: a verb that returned has been written through to the disk. Each verb is one
//! `BEGIN IMMEDIATE` transaction with its events in it. The file, its log, and the locks beside it are for their owner
//! alone. What is damaged is an error, never an empty queue.

mod columns;
mod edits;
mod fault;
mod holders;
mod log;
mod open;
mod rows;
mod runs;
mod tables;
#[cfg(test)]
mod tests;
mod votes;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use plangate_graph::Digest;
use rusqlite::Connection;

use crate::clock::{Clock, SystemClock, Time};
use crate::outcome::{Outcome, Reconciled};
use crate::row::{Decision, Edit, GRACE_MS, NewRow, Person, Row, RowId};
use crate::run::{Holder, Lease, NewRun, Run, RunId, RunState, StepWrite};
use crate::storage::{Accepted, Event, History, LeaseAnswer, ParkAnswer, Settlement, Storage, StoreError};
use crate::verbs::{self, RowsOf, Tables as _, Verb};

use fault::Sql;
use holders::Holders;
use tables::{Began, Locked};

/// A store in one `SQLite` file.
///
/// Any number of handles may be open on it, in one process or in several. A handle may be shared by threads: one writes
/// at a time, and reading does not wait for writing.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    id: String,
    genesis: Digest,
    clock: Arc<dyn Clock>,
    grace_ms: i64,
    holders: Holders,
    writer: Mutex<Connection>,
    reader: Mutex<Option<Connection>>,
}

impl SqliteStore {
    /// Opens the store at this path on the machine's clocks, and makes it (with its folder) if there is nothing.
    ///
    /// A store of an earlier version is taken to this one. Errors name the path: not a store, a later version, read-only,
    /// damaged, no access. Nothing is changed in a file that is not a store, or one of a later version.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with_clock(path, Arc::new(SystemClock))
    }

    /// Opens the store on this clock.
    pub fn open_with_clock(path: impl AsRef<Path>, clock: Arc<dyn Clock>) -> Result<SqliteStore, StoreError> {
        let path = open::file(path.as_ref(), clock.now())?;
        let mut writer = open::connect(&path).map_err(|e| e.at(&path))?;
        let id = open::identify(&mut writer, &path, clock.now())?;
        Ok(SqliteStore {
            genesis: Event::genesis(&id),
            holders: Holders::beside(&path),
            writer: Mutex::new(writer),
            reader: Mutex::new(None),
            grace_ms: GRACE_MS,
            path,
            id,
            clock,
        })
    }

    /// With another grace after a call's deadline than [`GRACE_MS`].
    #[must_use]
    pub fn with_grace(self, grace_ms: i64) -> SqliteStore {
        SqliteStore { grace_ms, ..self }
    }

    /// Where it lies, with links followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// One transaction that nobody else writes in.
    fn write<T>(&self, verb: impl FnOnce(&mut Locked<'_>) -> Verb<T>) -> Result<T, StoreError> {
        let db = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let began = Began::writing(&db).map_err(|e| e.at(&self.path))?;
        let mut tables = self.locked(&db);
        match verb(&mut tables) {
            Ok(Ok(value)) => {
                began.commit().map_err(|e| e.at(&self.path))?;
                Ok(value)
            }
            // What the refusal met is written down.
            Ok(Err(refusal)) => {
                began.commit().map_err(|e| e.at(&self.path))?;
                Err(refusal)
            }
            Err(fault) => Err(fault),
        }
    }

    /// One snapshot. Does not wait for writers.
    fn read<T>(
        &self,
        reading: impl FnOnce(&mut Locked<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let db = match &mut *reader {
            Some(db) => db,
            none => none.insert(open::connect(&self.path).map_err(|e| e.at(&self.path))?),
        };
        let began = Began::reading(db).map_err(|e| e.at(&self.path))?;
        let value = reading(&mut self.locked(db))?;
        began.commit().map_err(|e| e.at(&self.path))?;
        Ok(value)
    }

    fn locked<'a>(&'a self, db: &'a Connection) -> Locked<'a> {
        Locked::new(db, &self.path, self.genesis, &self.holders, self.clock.now())
    }

    /// Rows as they are now. One that is seen expired for the first time is written down before anybody is told.
    fn rows_of(&self, of: RowsOf<'_>) -> Result<Vec<Row>, StoreError> {
        let sight = self.read(|t| verbs::read::rows(t, of))?;
        if sight.lapsed { self.write(|t| verbs::read::rows_written_down(t, of)) } else { Ok(sight.rows) }
    }

    /// The files of processes that died, as far as nothing in the store tells of them.
    fn sweep(&self) -> Result<(), StoreError> {
        if !self.holders.others()? {
            return Ok(());
        }
        let db = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let referenced = runs::holders(&db).map_err(|e: Sql| e.at(&self.path))?;
        self.holders.sweep(&referenced)
    }
}

impl Storage for SqliteStore {
    fn id(&self) -> Result<String, StoreError> {
        Ok(self.id.clone())
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    fn grace_ms(&self) -> i64 {
        self.grace_ms
    }
    fn holder(&self) -> Result<Holder, StoreError> {
        let (holder, first) = self.holders.new_holder()?;
        if first {
            self.sweep()?;
        }
        Ok(holder)
    }

    fn start(&self, run: &NewRun, holder: &Holder) -> Result<Lease, StoreError> {
        let steady = self.steady();
        self.write(|t| verbs::run::start(t, run, holder, steady))
    }

    fn lease(&self, run: &RunId, holder: &Holder) -> Result<LeaseAnswer, StoreError> {
        let steady = self.steady();
        self.write(|t| verbs::run::lease(t, run, holder, steady))
    }

    fn renew(&self, lease: &Lease) -> Result<Lease, StoreError> {
        self.record(lease, &[])
    }

    fn record(&self, lease: &Lease, steps: &[StepWrite]) -> Result<Lease, StoreError> {
        let steady = self.steady();
        self.write(|t| verbs::run::record(t, lease, steps, steady))
    }

    fn park(&self, lease: &Lease) -> Result<ParkAnswer, StoreError> {
        self.end(lease, RunState::Parked, None)
    }

    fn end(&self, lease: &Lease, state: RunState, reason: Option<&str>) -> Result<ParkAnswer, StoreError> {
        let steady = self.steady();
        self.write(|t| verbs::run::release(t, lease, state, reason, steady))
    }

    fn cancel(&self, run: &RunId, by: &Person, reason: Option<&str>) -> Result<Run, StoreError> {
        self.write(|t| verbs::run::cancel(t, run, by, reason))
    }

    fn ask(&self, lease: &Lease, row: &NewRow, step: &[StepWrite]) -> Result<Row, StoreError> {
        self.write(|t| verbs::row::ask(t, lease, row, step))
    }

    fn decide(&self, decision: &Decision) -> Result<Row, StoreError> {
        self.write(|t| verbs::row::decide(t, decision))
    }

    fn edit(&self, edit: &Edit, key: &str) -> Result<Row, StoreError> {
        self.write(|t| verbs::row::edit(t, edit, key))
    }

    fn shown(&self, row: &RowId, digest: Digest, to: &Person, surface: &str) -> Result<Row, StoreError> {
        self.write(|t| verbs::row::shown(t, row, digest, to, surface))
    }

    fn claim(
        &self,
        lease: &Lease,
        row: &RowId,
        nonce: &str,
        digest: Digest,
        definition: Digest,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.write(|t| verbs::row::claim(t, lease, row, nonce, digest, definition, step))
    }

    fn claim_unasked(
        &self,
        lease: &Lease,
        row: &NewRow,
        rule: &str,
        nonce: &str,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.write(|t| verbs::row::claim_unasked(t, lease, row, rule, nonce, step))
    }

    fn outcome(
        &self,
        row: &RowId,
        nonce: &str,
        outcome: &Outcome,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.write(|t| verbs::row::outcome(t, row, nonce, outcome, step))
    }

    fn settle(&self, row: &RowId, settled: &Settlement) -> Result<Row, StoreError> {
        self.write(|t| verbs::row::settle(t, row, settled, self.grace_ms))
    }

    fn reconcile(
        &self,
        lease: &Lease,
        row: &RowId,
        claim: &str,
        answer: &Reconciled,
    ) -> Result<Row, StoreError> {
        self.write(|t| verbs::row::reconcile(t, lease, row, claim, answer, self.grace_ms))
    }

    fn accept(&self, lease: &Lease, by: &Person, accepted: &Accepted) -> Result<Lease, StoreError> {
        let steady = self.steady();
        self.write(|t| verbs::run::accept(t, lease, by, accepted, steady))
    }

    fn run(&self, run: &RunId) -> Result<Run, StoreError> {
        self.read(|t| verbs::read::run(t, run))?
    }

    fn runs(&self) -> Result<Vec<Run>, StoreError> {
        self.read(|t| verbs::read::runs(t))
    }

    fn steps(&self, run: &RunId) -> Result<Vec<StepWrite>, StoreError> {
        self.read(|t| t.steps(run))
    }

    fn history(&self, run: &RunId) -> Result<History, StoreError> {
        loop {
            let (run, steps, sight) = self.read(|t| verbs::read::history(t, run))??;
            if !sight.lapsed {
                return Ok(History { run, steps, rows: sight.rows });
            }
            self.write(|t| verbs::read::rows_written_down(t, RowsOf::Run(&run.id)))?;
        }
    }

    fn row(&self, row: &RowId) -> Result<Row, StoreError> {
        verbs::read::only(self.rows_of(RowsOf::Row(row))?, row)
    }

    fn rows(&self, of: Option<&RunId>) -> Result<Vec<Row>, StoreError> {
        self.rows_of(of.map_or(RowsOf::All, RowsOf::Run))
    }

    fn waiting(&self) -> Result<Vec<Row>, StoreError> {
        self.rows_of(RowsOf::Open)
    }

    fn same_calls(&self, server: &str, tool: &str, digest: &Digest) -> Result<Vec<Row>, StoreError> {
        self.rows_of(RowsOf::Same { server, tool, digest })
    }

    fn with_digests(&self, digests: &[Digest]) -> Result<Vec<Row>, StoreError> {
        self.rows_of(RowsOf::Digests(digests))
    }

    fn document(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        let document = self.read(|t| t.document(digest))?;
        document.ok_or_else(|| StoreError::NotFound { what: "document", id: digest.to_string() })
    }

    fn events(&self, after: u64) -> Result<Vec<Event>, StoreError> {
        self.read(|t| t.events(after))
    }
}
