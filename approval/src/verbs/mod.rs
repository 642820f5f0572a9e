//! The verbs of a store, written once over its tables.
//!
//! A verb reads what it needs, asks [`state`](crate::state) what happens, and writes the change with its events. The
//! store around it gives one transaction: nobody else writes between the first read and the commit.

use plangate_graph::Digest;

use crate::clock::Time;
use crate::event::What;
use crate::row::{Edited, Row, RowId, RowState, Vote};
use crate::run::{Holder, NewRun, Run, RunId, StepState, StepWrite};
use crate::state::{self, Change, Moment, Refusal, RunHead, Stored, Tenure, expire};
use crate::storage::{Accepted, Event, StoreError};

/// What came of a verb. The outer error is a fault of the store: nothing is committed. The inner one is a refusal: what
/// the verb wrote down, for instance that the row was seen expired, is committed.
pub(crate) type Verb<T> = Result<Result<T, StoreError>, StoreError>;

/// The value of a verb that was granted; a refusal is returned on the spot.
macro_rules! granted {
    ($verb:expr) => {
        match $verb {
            Ok(value) => value,
            Err(refusal) => return Ok(Err(refusal)),
        }
    };
}

pub(crate) mod read;
pub(crate) mod row;
pub(crate) mod run;

/// Tables within one transaction.
pub(crate) trait Tables {
    /// The store's clock, read once after the lock was taken.
    fn now(&self) -> Time;
    /// Whether this holder's process is known to be gone.
    fn dead(&mut self, holder: &Holder) -> Result<bool, StoreError>;

    /// What changes of a run.
    fn head(&mut self, run: &RunId) -> Result<Option<RunHead>, StoreError>;
    /// Adds a run and its documents.
    fn add_run(&mut self, run: &NewRun, head: &RunHead) -> Result<(), StoreError>;
    /// Puts other documents in the place of a run's.
    fn replace_documents(&mut self, run: &RunId, accepted: &Accepted) -> Result<(), StoreError>;
    /// Writes what changes of a run, but for its documents.
    fn save_head(&mut self, head: &RunHead) -> Result<(), StoreError>;
    /// Writes a step.
    fn write_step(&mut self, run: &RunId, step: &StepWrite) -> Result<(), StoreError>;
    /// Writes the state of a step that was written before; its detail stays.
    fn set_step(&mut self, run: &RunId, node: &str, state: StepState) -> Result<(), StoreError>;
    /// Sets all steps of a run that wait or run to cancelled.
    fn cancel_steps(&mut self, run: &RunId) -> Result<(), StoreError>;

    /// A row.
    fn stored(&mut self, row: &RowId) -> Result<Option<Stored>, StoreError>;
    /// A row by its place.
    fn stored_at(&mut self, run: &RunId, node: &str, ask: u32) -> Result<Option<Stored>, StoreError>;
    /// Rows of a run whose written state is one of these open ones, in the order they were asked.
    fn open_rows(&mut self, run: &RunId, states: OpenStates) -> Result<Vec<Stored>, StoreError>;
    /// Adds a row, without its votes.
    fn add_row(&mut self, row: &Stored) -> Result<(), StoreError>;
    /// Writes what changes of a row, without its votes.
    fn save_row(&mut self, row: &Stored) -> Result<(), StoreError>;
    /// Keeps a vote, in the place of an earlier one of the same person for the same bytes.
    fn keep_vote(&mut self, row: &RowId, vote: &Vote) -> Result<(), StoreError>;

    /// Writes what an edit changed of a row, and keeps what it replaced, which is the last of its edits.
    fn save_edit(&mut self, row: &Stored, edited: &Edited) -> Result<(), StoreError>;

    /// Appends to the event log.
    fn append(&mut self, what: &What) -> Result<(), StoreError>;

    /// A whole run; `driven` is not filled in.
    fn whole_run(&mut self, run: &RunId) -> Result<Option<Run>, StoreError>;
    /// All runs, newest first; `driven` is not filled in.
    fn whole_runs(&mut self) -> Result<Vec<Run>, StoreError>;
    /// Steps of a run by node id.
    fn steps(&mut self, run: &RunId) -> Result<Vec<StepWrite>, StoreError>;
    /// Rows, with the driver of their run, in the order they were asked.
    fn rows(&mut self, of: RowsOf<'_>) -> Result<Vec<(Stored, Tenure)>, StoreError>;
    /// A document.
    fn document(&mut self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError>;
    /// Events after a position.
    fn events(&mut self, after: u64) -> Result<Vec<Event>, StoreError>;
}

/// Which rows are read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowsOf<'a> {
    /// One.
    Row(&'a RowId),
    /// Those of a run.
    Run(&'a RunId),
    /// All.
    All,
    /// Those of all runs whose written state is open.
    Open,
    /// Those of all runs with one of these digests.
    Digests(&'a [Digest]),
    /// Those of all runs about the very same call.
    Same {
        /// Its server.
        server: &'a str,
        /// Its tool.
        tool: &'a str,
        /// Digest of its arguments.
        digest: &'a Digest,
    },
}

/// Which open rows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenStates {
    /// Written as pending or approved.
    Unclaimed,
    /// Written as claimed.
    Claimed,
}

impl OpenStates {
    /// Whether a row written with this state is meant.
    pub(crate) fn holds(self, state: RowState) -> bool {
        match self {
            OpenStates::Unclaimed => matches!(state, RowState::Pending | RowState::Approved),
            OpenStates::Claimed => state == RowState::Claimed,
        }
    }
}

/// The run, or the refusal that there is none.
fn run_head<T: Tables>(t: &mut T, run: &RunId) -> Verb<RunHead> {
    Ok(t.head(run)?.ok_or_else(|| StoreError::NotFound { what: "run", id: run.0.clone() }))
}

/// The row and its run, or the refusal that there is none.
fn row_and_run<T: Tables>(t: &mut T, row: &RowId) -> Verb<(Stored, RunHead)> {
    let Some(stored) = t.stored(row)? else {
        return Ok(Err(StoreError::NotFound { what: "row", id: row.0.clone() }));
    };
    let head = granted!(run_head(t, &stored.row.run)?);
    Ok(Ok((stored, head)))
}

/// The moment of a row. Whether its claimer is dead is looked at only where a claim is open.
fn moment<'a, T: Tables>(t: &mut T, stored: &Stored, run: &'a RunHead) -> Result<Moment<'a>, StoreError> {
    let claimer_dead = match &stored.claimer {
        Some(claimer) if claimer.open && stored.row.state.open() => t.dead(&claimer.holder)?,
        _ => false,
    };
    Ok(Moment { now: t.now(), run, claimer_dead })
}

/// Writes a change of a row.
fn apply<T: Tables>(t: &mut T, head: &mut RunHead, change: &Change) -> Result<(), StoreError> {
    if change.is_nothing() {
        return Ok(());
    }
    let row = &change.next.row;
    t.save_row(&change.next)?;
    if let Some(vote) = &change.vote {
        t.keep_vote(&row.id, vote)?;
    }
    if let Some(edited) = &change.edited {
        t.save_edit(&change.next, edited)?;
    }
    if let (Some(state), Some(call)) = (change.step, &row.call) {
        t.set_step(&row.run, &call.node, state)?;
    }
    if change.wake {
        head.wake = head.wake.saturating_add(1);
        t.save_head(head)?;
    }
    change.events.iter().try_for_each(|what| t.append(what))
}

/// Refuses, and writes down what the refusal met.
fn refuse<T: Tables, R>(t: &mut T, head: &mut RunHead, refusal: Refusal) -> Verb<R> {
    if let Some(change) = refusal.write {
        apply(t, head, &change)?;
    }
    if let Some(what) = &refusal.log {
        t.append(what)?;
    }
    Ok(Err(refusal.why))
}

/// Why the call of this row is not to be made so soon after its like, if its terms say so.
fn repeated<T: Tables>(t: &mut T, row: &Row) -> Result<Option<Refusal>, StoreError> {
    let (Some(_), Some(call)) = (row.terms.repeat, &row.call) else { return Ok(None) };
    let same = RowsOf::Same { server: &call.server, tool: &call.tool, digest: &row.digest };
    let same = t.rows(same)?;
    Ok(state::repeated(row, same.iter().map(|(stored, _)| stored), t.now()))
}

/// A row of this run that is pending and live, other than this one, if the run holds its effects for such a row.
fn held_by<T: Tables>(t: &mut T, head: &RunHead, but: &RowId) -> Result<Option<RowId>, StoreError> {
    if !head.hold_siblings {
        return Ok(None);
    }
    let now = t.now();
    let rows = t.open_rows(&head.id, OpenStates::Unclaimed)?;
    let waiting = rows
        .into_iter()
        .find(|s| s.row.state == RowState::Pending && s.row.id != *but && expire(s, now).is_none());
    Ok(waiting.map(|s| s.row.id))
}
