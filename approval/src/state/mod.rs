//! The life of a row and of a run's lease, as functions of values: no clock, threads or SQL.
//!
//! ```text
//! pending -> approved -> claimed -> succeeded | failed        claimed, its claimer gone or unsure -> uncertain -> happened | did not
//! pending, approved -> expired | cancelled                    pending -> rejected            question without a call: pending -> answered
//! ```
//!
//! A transition takes what is stored and what happens, and gives the [`Change`] to be written in one transaction, or a
//! [`Refusal`]. Refusals come in one order: not found, already decided, cancelled, expired, changed, not allowed.
//! Expiry and uncertainty are never waited for: they are computed from the row and the moment. A refusal that met an
//! expired row carries the change that writes it down, so that it stays expired when the clock steps back.

mod ask;
mod claim;
mod edit;
mod ending;
mod lease;
mod people;
mod reconcile;
mod repeat;
mod settle;
mod shown;
mod vote;

pub use ask::{Asked, Earlier, Waived, ask, born_claimed};
pub use claim::{ClaimOf, claim};
pub use edit::edit;
pub use ending::{cancel, outcome};
pub use lease::{Taken, held, hold, lease_of, mark_cancelled, may_start, release, start, take};
pub use people::named;
pub use reconcile::reconcile;
pub use repeat::{puts_a_call, repeated};
pub use settle::settle;
pub use shown::shown;
pub use vote::{decide, extend};

use std::sync::Arc;

use plangate_graph::Digest;

use crate::clock::Time;
use crate::event::{Kind, What};
use crate::row::{Edited, Person, Row, RowState, SKEW_MS, Vote};
use crate::run::{Holder, RunId, RunState, StepState};
use crate::storage::StoreError;

/// A row as stored. Its `state` is what was last written, which [`seen`] turns into what holds at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The row.
    pub row: Row,
    /// Who claimed it.
    pub claimer: Option<Claimer>,
}

/// Who claimed a row, and whether the call may still be under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimer {
    /// The driver.
    pub holder: Holder,
    /// Its fence.
    pub fence: u64,
    /// No outcome is recorded.
    pub open: bool,
}

/// What a run's row says of its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenure {
    /// Raised by each lease.
    pub fence: u64,
    /// Who drives.
    pub holder: Option<Holder>,
    /// Until when.
    pub lease_until: Option<Time>,
}

/// What the verbs need of a run; the rest of it never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHead {
    /// Its id.
    pub id: RunId,
    /// Digest of its plan.
    pub plan: Digest,
    /// Who started it.
    pub requester: Arc<Person>,
    /// While a row is pending, no effect is claimed.
    pub hold_siblings: bool,
    /// Where it stands.
    pub state: RunState,
    /// Why it needs attention, or was cancelled.
    pub reason: Option<String>,
    /// Its driver.
    pub tenure: Tenure,
    /// Raised by every decision.
    pub wake: u64,
    /// When it was cancelled.
    pub cancel_at: Option<Time>,
    /// When it last parked or ended.
    pub updated: Time,
}

/// The moment at which something happens to a row.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The store's clock, read after the lock.
    pub now: Time,
    /// The row's run.
    pub run: &'a RunHead,
    /// The process that claimed the row is known to be gone.
    pub claimer_dead: bool,
}

/// What is written in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The row from now on.
    pub next: Stored,
    /// A vote to be kept; it stands in `next` too.
    pub vote: Option<Vote>,
    /// What an edit replaced, to be kept; it stands in `next` too.
    pub edited: Option<Edited>,
    /// The step of the call, where the row decides it.
    pub step: Option<StepState>,
    /// What the log says.
    pub events: Vec<What>,
    /// The run's driver is to look again.
    pub wake: bool,
}

/// Why nothing happened, and what is written down all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub why: StoreError,
    /// That the row was seen expired.
    pub write: Option<Box<Change>>,
    /// What the log says of it.
    pub log: Option<What>,
}

impl From<StoreError> for Refusal {
    fn from(why: StoreError) -> Refusal {
        Refusal { why, write: None, log: None }
    }
}

impl Change {
    /// Nothing is written.
    pub fn nothing(stored: &Stored) -> Change {
        Change { next: stored.clone(), vote: None, edited: None, step: None, events: Vec::new(), wake: false }
    }

    /// Whether there is nothing to write.
    pub fn is_nothing(&self) -> bool {
        self.events.is_empty()
    }

    fn new(next: Stored, event: What) -> Change {
        Change { next, vote: None, edited: None, step: None, events: vec![event], wake: false }
    }

    fn waking(self) -> Change {
        Change { wake: true, ..self }
    }
}

impl Tenure {
    /// Whether a lease is live at this moment. What is known of its holder's death is told apart.
    pub fn live(&self, now: Time) -> bool {
        self.holder.is_some() && self.lease_until.is_some_and(|until| now < until)
    }
}

/// State of a row at a moment.
pub fn seen(stored: &Stored, tenure: &Tenure, now: Time, claimer_dead: bool) -> RowState {
    match stored.row.state {
        RowState::Pending | RowState::Approved if lapse(stored, now).is_some() => RowState::Expired,
        RowState::Claimed if gone(stored, tenure, now, claimer_dead) => RowState::Uncertain,
        state => state,
    }
}

/// The row as a reader gets it at a moment.
pub fn read(stored: &Stored, tenure: &Tenure, now: Time, claimer_dead: bool) -> Row {
    Row { state: seen(stored, tenure, now, claimer_dead), ..stored.row.clone() }
}

/// The change that writes down that a row is past its time, or nothing if it is not, or is written already.
pub fn expire(stored: &Stored, now: Time) -> Option<Change> {
    let since = lapse(stored, now)?;
    let mut next = stored.clone();
    next.row.state = RowState::Expired;
    let event = about(Kind::Expired, stored).time("since", since);
    Some(Change::new(next, event).waking())
}

/// The change that writes down that a row's claimer is gone, for a verb that meets it.
pub fn lose(stored: &Stored) -> Change {
    let mut next = stored.clone();
    next.row.state = RowState::Uncertain;
    Change { step: Some(StepState::Uncertain), ..Change::new(next, about(Kind::Uncertain, stored)) }
}

/// When a pending or approved row lapsed, if it has.
fn lapse(stored: &Stored, now: Time) -> Option<Time> {
    let until = match stored.row.state {
        RowState::Pending => stored.row.expires,
        RowState::Approved => stored.row.usable_until.unwrap_or(stored.row.expires),
        _ => return None,
    };
    (now >= until).then_some(until)
}

/// Whether the claimer's lease is over, or its process known dead.
fn gone(stored: &Stored, tenure: &Tenure, now: Time, claimer_dead: bool) -> bool {
    let drives = stored.claimer.as_ref().is_some_and(|claimer| {
        tenure.fence == claimer.fence && tenure.holder.as_ref() == Some(&claimer.holder)
    });
    claimer_dead || !drives || !tenure.live(now)
}

/// Refuses what has ended or lapsed; gives back a row that is pending or approved and live, or claimed or later.
fn not_over(stored: &Stored, moment: &Moment<'_>) -> Result<(), Refusal> {
    let row = &stored.row;
    match row.state {
        RowState::Cancelled => return Err(StoreError::Cancelled.into()),
        RowState::Expired => return Err(StoreError::Expired { at: ended_time(row) }.into()),
        _ if moment.run.cancel_at.is_some() => return Err(StoreError::Cancelled.into()),
        _ => {}
    }
    if let Some(at) = lapse(stored, moment.now) {
        let write = expire(stored, moment.now).map(Box::new);
        return Err(Refusal { why: StoreError::Expired { at }, write, log: None });
    }
    let from = row.decided_at.unwrap_or(row.created).max(row.created);
    if moment.now.0 < from.0.saturating_sub(SKEW_MS) {
        return Err(StoreError::FromFuture { at: from, now: moment.now }.into());
    }
    Ok(())
}

/// Refuses another digest than the stored one, and bytes that no longer have it.
fn same_bytes(row: &Row, seen: Digest) -> Result<(), StoreError> {
    if seen != row.digest {
        return Err(StoreError::Changed { stored: row.digest, seen });
    }
    let stored = match (&row.call, &row.question) {
        (Some(call), _) => Digest::of(&call.args),
        (None, question) => Digest::of(question.as_deref().unwrap_or_default().as_bytes()),
    };
    if stored == row.digest { Ok(()) } else { Err(StoreError::Changed { stored, seen }) }
}

/// When an expired row lapsed.
fn ended_time(row: &Row) -> Time {
    row.usable_until.unwrap_or(row.expires)
}

/// An event about this row.
fn about(kind: Kind, stored: &Stored) -> What {
    What::new(kind, &stored.row.run).row(&stored.row.id)
}
