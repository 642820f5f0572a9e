//! Verbs of a row.

use plangate_graph::Digest;

use super::{OpenStates, Tables, Verb, apply, held_by, moment, refuse, repeated, row_and_run, run_head};
use crate::outcome::{Outcome, Reconciled};
use crate::row::{Decision, Edit, NewRow, Person, Row, RowId, RowState};
use crate::run::{Lease, StepWrite};
use crate::state::{self, Asked, Change, ClaimOf, Earlier, Moment, Refusal, RunHead, Stored, Waived};
use crate::storage::{Settlement, StoreError};

pub(crate) fn ask<T: Tables>(t: &mut T, lease: &Lease, new: &NewRow, steps: &[StepWrite]) -> Verb<Row> {
    put(t, lease, new, steps, None)
}

pub(crate) fn claim_unasked<T: Tables>(
    t: &mut T,
    lease: &Lease,
    new: &NewRow,
    rule: &str,
    nonce: &str,
    step: &StepWrite,
) -> Verb<Row> {
    put(t, lease, new, std::slice::from_ref(step), Some((rule, nonce)))
}

pub(crate) fn decide<T: Tables>(t: &mut T, decision: &Decision) -> Verb<Row> {
    let change = change(t, &decision.row, |stored, moment| state::decide(stored, moment, decision))?;
    let (change, head) = granted!(change);
    if head.hold_siblings && !change.is_nothing() {
        let now = t.now();
        for other in t.open_rows(&head.id, OpenStates::Unclaimed)? {
            if let Some(longer) = state::extend(&other, now) {
                t.save_row(&longer)?;
            }
        }
    }
    as_read(t, &change.next, &head).map(Ok)
}

pub(crate) fn edit<T: Tables>(t: &mut T, edit: &Edit, key: &str) -> Verb<Row> {
    let change = change(t, &edit.row, |stored, moment| state::edit(stored, moment, edit, key))?;
    let (change, head) = granted!(change);
    as_read(t, &change.next, &head).map(Ok)
}

pub(crate) fn shown<T: Tables>(
    t: &mut T,
    row: &RowId,
    digest: Digest,
    to: &Person,
    surface: &str,
) -> Verb<Row> {
    let change = change(t, row, |stored, moment| state::shown(stored, moment, digest, to, surface))?;
    let (change, head) = granted!(change);
    as_read(t, &change.next, &head).map(Ok)
}

pub(crate) fn claim<T: Tables>(
    t: &mut T,
    lease: &Lease,
    row: &RowId,
    nonce: &str,
    digest: Digest,
    definition: Digest,
    step: &StepWrite,
) -> Verb<Row> {
    let waiting = match t.head(&lease.run)? {
        Some(head) => held_by(t, &head, row)?,
        None => None,
    };
    let of = ClaimOf { lease, nonce, digest, definition, held_by: waiting.as_ref() };
    let change = change(t, row, |stored, moment| {
        if stored.row.run != lease.run {
            return Err(StoreError::NotFound { what: "row", id: row.0.clone() }.into());
        }
        state::claim(stored, moment, &of)
    })?;
    let (change, head) = granted!(change);
    if !change.is_nothing() {
        t.write_step(&lease.run, step)?;
    }
    as_read(t, &change.next, &head).map(Ok)
}

pub(crate) fn outcome<T: Tables>(
    t: &mut T,
    row: &RowId,
    nonce: &str,
    outcome: &Outcome,
    step: &StepWrite,
) -> Verb<Row> {
    let mut own = false;
    let change = change(t, row, |stored, moment| {
        own = stored.row.claim.as_deref() == Some(nonce);
        state::outcome(stored, moment, nonce, outcome)
    })?;
    let (change, head) = granted!(change);
    // Of a claim that was taken back, or of a call that somebody settled, the step stays as it is.
    let row = &change.next.row;
    let taken = own && row.settled.is_none() && row.outcome.as_ref() == Some(outcome);
    if !change.is_nothing() && taken {
        t.write_step(&head.id, step)?;
    }
    as_read(t, &change.next, &head).map(Ok)
}

pub(crate) fn settle<T: Tables>(t: &mut T, row: &RowId, word: &Settlement, grace_ms: i64) -> Verb<Row> {
    let change = change(t, row, |stored, moment| state::settle(stored, moment, word, grace_ms))?;
    let (change, head) = granted!(change);
    as_read(t, &change.next, &head).map(Ok)
}

pub(crate) fn reconcile<T: Tables>(
    t: &mut T,
    lease: &Lease,
    row: &RowId,
    claim: &str,
    answer: &Reconciled,
    grace_ms: i64,
) -> Verb<Row> {
    let change =
        change(t, row, |stored, moment| state::reconcile(stored, moment, lease, claim, answer, grace_ms))?;
    let (change, head) = granted!(change);
    as_read(t, &change.next, &head).map(Ok)
}

/// Puts a row before people, or claims it as it is made.
fn put<T: Tables>(
    t: &mut T,
    lease: &Lease,
    new: &NewRow,
    steps: &[StepWrite],
    waived: Option<(&str, &str)>,
) -> Verb<Row> {
    let mut head = granted!(run_head(t, &lease.run)?);
    let same = t.stored_at(&lease.run, &new.node, new.ask)?;
    let last = match new.ask.checked_sub(1) {
        Some(before) => t.stored_at(&lease.run, &new.node, before)?,
        None => None,
    };
    let waiting = if waived.is_some() { held_by(t, &head, &new.id)? } else { None };
    let asked = {
        let moment = match same.as_ref().or(last.as_ref()) {
            Some(stored) => moment(t, stored, &head)?,
            None => Moment { now: t.now(), run: &head, claimer_dead: false },
        };
        let earlier = Earlier { same: same.as_ref(), last: last.as_ref() };
        match waived {
            None => state::ask(new, earlier, &moment, lease),
            Some((rule, nonce)) => {
                let waived = Waived { rule, nonce, held_by: waiting.as_ref() };
                state::born_claimed(new, &waived, earlier, &moment, lease)
            }
        }
    };
    let change = match (asked, same) {
        (Ok(Asked::New { row, lapsed }), _) => {
            if let Some(refusal) = repeated(t, &row.next.row)? {
                return refuse(t, &mut head, refusal);
            }
            if let Some(lapsed) = lapsed {
                apply(t, &mut head, &lapsed)?;
            }
            row
        }
        (Ok(Asked::Before), Some(same)) => return as_read(t, &same, &head).map(Ok),
        (Ok(Asked::Before), None) => {
            return Ok(Err(StoreError::NotFound { what: "row", id: new.id.0.clone() }));
        }
        (Err(refusal), _) => return refuse(t, &mut head, refusal),
    };
    t.add_row(&change.next)?;
    steps.iter().try_for_each(|step| t.write_step(&lease.run, step))?;
    change.events.iter().try_for_each(|what| t.append(what))?;
    as_read(t, &change.next, &head).map(Ok)
}

/// Finds the row, asks what happens, and writes it.
fn change<T: Tables>(
    t: &mut T,
    row: &RowId,
    what: impl FnOnce(&Stored, &Moment<'_>) -> Result<Change, Refusal>,
) -> Verb<(Change, RunHead)> {
    let (stored, mut head) = granted!(row_and_run(t, row)?);
    let change = {
        let moment = moment(t, &stored, &head)?;
        what(&stored, &moment)
    };
    match change {
        Ok(change) => {
            if state::puts_a_call(&stored, &change.next)
                && let Some(refusal) = repeated(t, &change.next.row)?
            {
                let log = refusal.log.map(|what| what.row(&stored.row.id));
                return refuse(t, &mut head, Refusal { log, ..refusal });
            }
            apply(t, &mut head, &change)?;
            Ok(Ok((change, head)))
        }
        Err(refusal) => refuse(t, &mut head, refusal),
    }
}

/// The row as its reader gets it now.
fn as_read<T: Tables>(t: &mut T, stored: &Stored, head: &RunHead) -> Result<Row, StoreError> {
    let moment = moment(t, stored, head)?;
    let claimer_dead = moment.claimer_dead && stored.row.state == RowState::Claimed;
    Ok(state::read(stored, &head.tenure, moment.now, claimer_dead))
}
