//! Calls past their deadline.
//!
//! What may be under way is not called over. At its deadline a call that changes something is asked to stop and its step
//! is uncertain, while its row stays claimed: until the store's grace has passed nobody can say that it did not happen.
//! What the call still brings is recorded, now or when the run is parked.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plangate_approval::{Lease, Outcome, RowId, StepState, Storage};
use plangate_graph::NodeIx;

use super::core::{Core, Times, UnderWay};
use super::dispatch::Start;
use super::work::{Cell, Phase};
use super::{Drive, Report};
use crate::error::RunError;
use crate::schedule::Event;
use crate::tools::ReadError;

/// A call that was claimed and that nobody waits for any more.
pub(super) struct Overdue {
    ix: NodeIx,
    pub(super) attempt: u64,
    row: RowId,
    times: Times,
    pub(super) cell: Arc<Cell>,
    /// Until when the run does not park, since the call was just asked to stop.
    heard: Option<Instant>,
    /// Until when the call may be under way; nothing: it was said that nobody knows.
    until: Option<Instant>,
}

/// How long a run that has nothing else to do waits for a call that it asked to stop; shorter with a shorter
/// [`grace`](crate::Options::grace).
const HEED: Duration = Duration::from_secs(1);

/// A call that nobody waits for any more, as it is told.
pub(crate) struct Silent {
    pub(super) row: RowId,
    pub(super) why: String,
    /// It has not come back.
    pub(super) out: bool,
    pub(super) until: Option<Instant>,
    /// The lease after its step was written.
    pub(super) written: Result<Lease, RunError>,
}

impl<S: Storage + 'static> Drive<S> {
    /// A step did not end in time, or a call that did not was waited for long enough.
    pub(super) fn past_deadline(&self, core: &mut Core, ix: NodeIx, attempt: u64) {
        let Some(under) = core.under_way.get(&ix).filter(|under| under.attempt == attempt) else {
            return self.still_out(core, ix, attempt);
        };
        let waited = u64::try_from(under.timeout.as_millis()).unwrap_or(u64::MAX);
        if matches!(under.start, Start::Call { .. }) {
            return self.leave(core, ix, attempt, format!("no answer within {waited} ms"));
        }
        // What the steward says comes first; then the read is asked to stop, and what it says comes late.
        let cancel = under.cancel.clone();
        under.cell.abandon(self.pool.abandon());
        let at = self.ctx.watch.micros();
        self.inbox.push(Report::Returned { ix, attempt, at, result: Err(ReadError::TimedOut(waited)) });
        cancel.cancel();
    }

    /// The run goes on without a call that is under way.
    pub(super) fn leave(&self, core: &mut Core, ix: NodeIx, attempt: u64, why: String) {
        let Some(under) = core.under_way.get(&ix).filter(|under| under.attempt == attempt) else { return };
        let (cell, cancel) = (Arc::clone(&under.cell), under.cancel.clone());
        let mut phase = cell.phase();
        match &*phase {
            Phase::Before => {
                *phase = Phase::Overdue;
                let at = self.ctx.watch.micros();
                let why = format!("{why}, since the server was not ready; nothing was sent");
                self.inbox.push(Report::NotReady { ix, attempt, at, why });
            }
            Phase::Claimed { claim, until } => {
                let (claim, until) = (claim.clone(), *until);
                let silent = self.silent(ix, core.times[ix], &claim, why, true, until);
                *phase = Phase::Silent(claim);
                self.inbox.push(Report::Silent { ix, attempt, silent: Box::new(silent) });
            }
            // Its report is in the inbox.
            Phase::Overdue | Phase::Silent(_) | Phase::Over => return,
        }
        // Marked before the thread can get hold of the phase and be done.
        cell.abandon(self.pool.abandon());
        drop(phase);
        cancel.leave();
    }

    /// Takes up that nobody waits for a call any more.
    pub(super) fn take_silent(&self, core: &mut Core, ix: NodeIx, attempt: u64, silent: Silent) {
        let Some(under) = core.under_way.remove_if(ix, attempt) else { return };
        let Silent { row, why, out, until, written } = silent;
        match written {
            Ok(lease) => self.renewed(core, lease),
            Err(RunError::Store(error)) => core.store_failed(error),
            Err(fault) => core.stop(fault),
        }
        let heard = out.then(|| Instant::now() + HEED.min(self.ctx.options.grace));
        core.deadlines.extend([heard, until].into_iter().flatten().map(|at| Reverse((at, ix, attempt))));
        core.overdue.push(Overdue {
            ix,
            attempt,
            row: row.clone(),
            times: core.times[ix],
            cell: under.cell,
            heard,
            until,
        });
        core.claims.insert(ix, row);
        core.errors.insert(ix, why);
        self.happened(core, ix, Event::Unknown(ix));
    }

    /// A call past its deadline had the moment in which it was listened for, or has certainly ended by now: then its row
    /// says that nobody knows what came of it.
    fn still_out(&self, core: &mut Core, ix: NodeIx, attempt: u64) {
        let now = Instant::now();
        let Some(overdue) = core.overdue.iter_mut().find(|o| (o.ix, o.attempt) == (ix, attempt)) else {
            return;
        };
        overdue.heard = overdue.heard.filter(|at| *at > now);
        if overdue.until.is_none_or(|at| at > now) {
            return;
        }
        overdue.until = None;
        let (cell, row, times) = (Arc::clone(&overdue.cell), overdue.row.clone(), overdue.times);
        let waits = core.schedule.state(ix) == StepState::Uncertain && core.claims.get(&ix) == Some(&row);
        let phase = cell.phase();
        let (true, Phase::Silent(claim)) = (waits, &*phase) else { return };
        // A person may have spoken: then there is nothing to say.
        match self.ctx.store.row(&row) {
            Ok(stored) if stored.settled.is_some() => core.news = true,
            Ok(_) => {
                let why = core.errors.get(&ix).cloned().unwrap_or_default();
                self.record_outcome(ix, attempt, times, claim, &Outcome::Unknown(why));
            }
            Err(error) => core.store_failed(error),
        }
    }
}

impl Core {
    /// The call of an attempt is back.
    pub(super) fn is_back(&mut self, ix: NodeIx, attempt: u64) {
        for overdue in self.overdue.iter_mut().filter(|o| (o.ix, o.attempt) == (ix, attempt)) {
            overdue.heard = None;
        }
    }

    /// A call was just asked to stop, and may say at any moment what came of it.
    pub(super) fn listens(&self) -> bool {
        self.overdue.iter().any(|overdue| overdue.heard.is_some())
    }
}
