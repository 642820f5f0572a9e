//! The tables within one transaction of one connection.

use std::path::Path;

use plangate_graph::Digest;
use rusqlite::Connection;

use super::fault::Sql;
use super::holders::Holders;
use super::{edits, log, rows, runs, votes};
use crate::clock::Time;
use crate::event::What;
use crate::row::{Edited, RowId, Vote};
use crate::run::{Holder, NewRun, Run, RunId, StepState, StepWrite};
use crate::state::{RunHead, Stored, Tenure};
use crate::storage::{Accepted, Event, StoreError};
use crate::verbs::{OpenStates, RowsOf, Tables};

/// A transaction; rolled back unless it is committed.
pub(super) struct Began<'a> {
    db: &'a Connection,
}

/// Tables, and the time since the lock was taken.
pub(super) struct Locked<'a> {
    db: &'a Connection,
    path: &'a Path,
    genesis: Digest,
    holders: &'a Holders,
    now: Time,
    /// Head of the log, once something was appended.
    head: Option<(u64, Digest)>,
}

impl<'a> Began<'a> {
    /// Takes the write lock, so that what is read stays true until the commit.
    pub(super) fn writing(db: &'a Connection) -> Result<Began<'a>, Sql> {
        Began::with(db, "BEGIN IMMEDIATE")
    }

    /// Takes a snapshot.
    pub(super) fn reading(db: &'a Connection) -> Result<Began<'a>, Sql> {
        Began::with(db, "BEGIN DEFERRED")
    }

    fn with(db: &'a Connection, begin: &str) -> Result<Began<'a>, Sql> {
        db.prepare_cached(begin)?.execute([])?;
        Ok(Began { db })
    }

    pub(super) fn commit(self) -> Result<(), Sql> {
        self.db.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

impl Drop for Began<'_> {
    fn drop(&mut self) {
        if !self.db.is_autocommit() {
            // A rollback that fails leaves a transaction which the next verb fails to begin in: it is told then.
            let _ = self.db.execute_batch("ROLLBACK");
        }
    }
}

impl<'a> Locked<'a> {
    pub(super) fn new(
        db: &'a Connection,
        path: &'a Path,
        genesis: Digest,
        holders: &'a Holders,
        now: Time,
    ) -> Locked<'a> {
        Locked { db, path, genesis, holders, now, head: None }
    }

    fn told<T>(&self, answer: Result<T, Sql>) -> Result<T, StoreError> {
        answer.map_err(|e| e.at(self.path))
    }
}

impl Tables for Locked<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn dead(&mut self, holder: &Holder) -> Result<bool, StoreError> {
        self.holders.dead(holder)
    }

    fn head(&mut self, run: &RunId) -> Result<Option<RunHead>, StoreError> {
        self.told(runs::head(self.db, run))
    }

    fn add_run(&mut self, run: &NewRun, head: &RunHead) -> Result<(), StoreError> {
        self.told(runs::add(self.db, run, head, self.now))
    }

    fn replace_documents(&mut self, run: &RunId, accepted: &Accepted) -> Result<(), StoreError> {
        self.told(runs::replace_documents(self.db, run, accepted))
    }

    fn save_head(&mut self, head: &RunHead) -> Result<(), StoreError> {
        self.told(runs::save(self.db, head))
    }

    fn write_step(&mut self, run: &RunId, step: &StepWrite) -> Result<(), StoreError> {
        self.told(runs::write_step(self.db, run, step))
    }

    fn set_step(&mut self, run: &RunId, node: &str, state: StepState) -> Result<(), StoreError> {
        self.told(runs::set_step(self.db, run, node, state))
    }

    fn cancel_steps(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.told(runs::cancel_steps(self.db, run))
    }

    fn stored(&mut self, row: &RowId) -> Result<Option<Stored>, StoreError> {
        self.told(rows::stored(self.db, row))
    }

    fn stored_at(&mut self, run: &RunId, node: &str, ask: u32) -> Result<Option<Stored>, StoreError> {
        self.told(rows::at(self.db, run, node, ask))
    }

    fn open_rows(&mut self, run: &RunId, states: OpenStates) -> Result<Vec<Stored>, StoreError> {
        self.told(rows::open(self.db, run, states))
    }

    fn add_row(&mut self, row: &Stored) -> Result<(), StoreError> {
        self.told(rows::add(self.db, row))
    }

    fn save_row(&mut self, row: &Stored) -> Result<(), StoreError> {
        self.told(rows::save(self.db, row))
    }

    fn keep_vote(&mut self, row: &RowId, vote: &Vote) -> Result<(), StoreError> {
        self.told(votes::keep_vote(self.db, row, vote))
    }

    fn save_edit(&mut self, row: &Stored, edited: &Edited) -> Result<(), StoreError> {
        self.told(edits::save(self.db, row, edited))
    }

    fn append(&mut self, what: &What) -> Result<(), StoreError> {
        let head = match self.head {
            Some(head) => head,
            None => self.told(log::head(self.db, self.genesis))?,
        };
        self.head = Some(self.told(log::append(self.db, head, self.now, what.text()))?);
        Ok(())
    }

    fn whole_run(&mut self, run: &RunId) -> Result<Option<Run>, StoreError> {
        self.told(runs::whole(self.db, run))
    }

    fn whole_runs(&mut self) -> Result<Vec<Run>, StoreError> {
        self.told(runs::all(self.db))
    }

    fn steps(&mut self, run: &RunId) -> Result<Vec<StepWrite>, StoreError> {
        self.told(runs::steps(self.db, run))
    }

    fn rows(&mut self, of: RowsOf<'_>) -> Result<Vec<(Stored, Tenure)>, StoreError> {
        self.told(rows::list(self.db, of))
    }

    fn document(&mut self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.told(runs::document(self.db, digest))
    }

    fn events(&mut self, after: u64) -> Result<Vec<Event>, StoreError> {
        self.told(log::after(self.db, after, self.genesis))
    }
}
