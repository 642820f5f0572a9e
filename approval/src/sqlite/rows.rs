//! Rows and votes in `SQLite`.

use plangate_graph::Digest;
use plangate_graph::policy::Terms;
use rusqlite::types::ToSql;
use rusqlite::{Connection, params};

use super::columns::{Columns, json, number};
use super::edits;
use super::fault::Sql;
use super::runs::{one, tenure};
use super::votes::{with_all_votes, with_votes};
use crate::clock::Time;
use crate::row::{Row, RowCall, RowId, RowState};
use crate::run::{Holder, RunId};
use crate::state::{Claimer, Stored, Tenure};
use crate::verbs::{OpenStates, RowsOf};

pub(super) const SELECT: &str = "SELECT a.id, a.run, a.node, a.ask, a.digest, a.call, a.server, a.origin, a.tool, a.definition,
    a.timeout_ms, a.args, a.question, a.reason, a.policy, a.deadline_ms, a.quorum, a.roles, a.verified_only, a.requester_may, a.may_edit, a.repeat, a.key, a.edits, a.plan, a.state,
    a.created, a.expires, a.decided_at, a.usable_until, a.decided_by, a.decision_reason, a.claim, a.claim_holder,
    a.claim_fence, a.call_open, a.claimed_at, a.call_deadline, a.outcome, a.ended_at, a.reconciled, a.settled, a.shown,
    run.fence, run.holder, run.lease_until
  FROM approval a LEFT JOIN run ON run.id = a.run";

/// The predicate of the index `open_approval`, word for word, so that it is used: everything that is not known to be over.
macro_rules! not_over {
    ($state:literal) => {
        concat!(
            "ifnull(",
            $state,
            ", '?') NOT IN ('succeeded', 'failed', 'happened', 'did_not', 'answered', 'rejected', 'cancelled', 'expired')"
        )
    };
}
pub(super) use not_over;

const WAITING: &str = concat!("WHERE ", not_over!("a.state"), " ORDER BY +a.seq");
const UNCLAIMED: &str = concat!(
    "WHERE a.run = ?1 AND ",
    not_over!("a.state"),
    " AND ifnull(a.state, '?') NOT IN ('claimed', 'uncertain') ORDER BY +a.seq"
);
const CLAIMED: &str =
    concat!("WHERE a.run = ?1 AND ", not_over!("a.state"), " AND a.state = 'claimed' ORDER BY +a.seq");
macro_rules! with_digests {
    ($digest:literal) => {
        concat!($digest, " IN (SELECT unhex(value) FROM json_each(?1))")
    };
}
pub(super) use with_digests;

const WITH_DIGESTS: &str = concat!("WHERE ", with_digests!("a.digest"), " ORDER BY +a.seq");
/// What is read by the index alone.
#[cfg(test)]
pub(super) const QUEUES: [&str; 3] = [WAITING, UNCLAIMED, CLAIMED];

pub(super) fn stored(db: &Connection, id: &RowId) -> Result<Option<Stored>, Sql> {
    let found = select(db, "WHERE a.id = ?1", &[&id.0])?;
    with_votes(db, found).map(first)
}

pub(super) fn at(db: &Connection, run: &RunId, node: &str, ask: u32) -> Result<Option<Stored>, Sql> {
    let found = select(db, "WHERE a.run = ?1 AND a.node = ?2 AND a.ask = ?3", &[&run.0, &node, &ask])?;
    with_votes(db, found).map(first)
}

pub(super) fn open(db: &Connection, run: &RunId, states: OpenStates) -> Result<Vec<Stored>, Sql> {
    let which = match states {
        OpenStates::Unclaimed => UNCLAIMED,
        OpenStates::Claimed => CLAIMED,
    };
    let found = select(db, which, &[&run.0])?;
    Ok(with_votes(db, found)?.into_iter().map(|(stored, _)| stored).collect())
}

/// Digests as one parameter: a JSON list of their hexadecimal digits.
pub(super) fn listed(digests: &[Digest]) -> String {
    let quoted = |digest: &Digest| format!("\"{}\"", digest.to_string().trim_start_matches("sha256:"));
    format!("[{}]", digests.iter().map(quoted).collect::<Vec<_>>().join(","))
}

pub(super) fn list(db: &Connection, of: RowsOf<'_>) -> Result<Vec<(Stored, Tenure)>, Sql> {
    let found = match of {
        RowsOf::Row(id) => select(db, "WHERE a.id = ?1", &[&id.0])?,
        RowsOf::Run(run) => select(db, "WHERE a.run = ?1 ORDER BY a.seq", &[&run.0])?,
        RowsOf::All => select(db, "ORDER BY a.seq", &[])?,
        RowsOf::Open => select(db, WAITING, &[])?,
        RowsOf::Digests(digests) => select(db, WITH_DIGESTS, &[&listed(digests)])?,
        RowsOf::Same { server, tool, digest } => select(
            db,
            "WHERE a.digest = ?1 AND a.server = ?2 AND a.tool = ?3 ORDER BY a.seq",
            &[digest.as_bytes(), &server, &tool],
        )?,
    };
    match of {
        RowsOf::All | RowsOf::Open | RowsOf::Digests(_) if found.len() > 1 => with_all_votes(db, of, found),
        RowsOf::Run(_) if found.len() > 1 => with_all_votes(db, of, found),
        _ => with_votes(db, found),
    }
}

pub(super) fn add(db: &Connection, stored: &Stored) -> Result<(), Sql> {
    let row = &stored.row;
    let call = row.call.as_ref();
    db.prepare_cached(
        "INSERT INTO approval (id, run, node, ask, digest, call, server, origin, tool, definition, timeout_ms, args,
           question, reason, policy, deadline_ms, quorum, roles, verified_only, requester_may, may_edit, key, edits, state, created, expires, decided_at,
           usable_until, decided_by, decision_reason, claim, claim_holder, claim_fence, call_open, claimed_at,
           call_deadline, plan, repeat)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
           ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38)",
    )?
    .execute(params![
        row.id.0,
        row.run.0,
        row.node,
        row.ask,
        row.digest.as_bytes(),
        call.map(|c| &c.node),
        call.map(|c| &c.server),
        call.and_then(|c| c.origin.as_ref()),
        call.map(|c| &c.tool),
        call.map(|c| c.definition.as_bytes()),
        call.map(|c| c.timeout_ms),
        call.map(|c| &c.args),
        row.question,
        json(&row.reason)?,
        row.policy.as_bytes(),
        row.terms.deadline_ms,
        row.terms.quorum,
        json(&row.terms.roles)?,
        row.terms.verified_only,
        row.terms.requester_may_decide,
        row.terms.may_edit.as_ref().map(json).transpose()?,
        row.key,
        edits::count(row.edits.len()),
        row.state.as_str(),
        row.created.0,
        row.expires.0,
        row.decided_at.map(|t| t.0),
        row.usable_until.map(|t| t.0),
        row.decided_by,
        row.decision_reason,
        row.claim,
        stored.claimer.as_ref().map(|c| &c.holder.0),
        stored.claimer.as_ref().map(|c| number(c.fence)),
        stored.claimer.as_ref().is_some_and(|c| c.open),
        row.claimed_at.map(|t| t.0),
        row.call_deadline.map(|t| t.0),
        row.plan.as_bytes(),
        row.terms.repeat.as_ref().map(json).transpose()?,
    ])?;
    Ok(())
}

/// Writes what changes of a row in its life. What was asked stays as it is.
pub(super) fn save(db: &Connection, stored: &Stored) -> Result<(), Sql> {
    let row = &stored.row;
    let changed = db
        .prepare_cached(
            "UPDATE approval SET state = ?2, decided_at = ?3, usable_until = ?4, decided_by = ?5, decision_reason = ?6,
               claim = ?7, claim_holder = ?8, claim_fence = ?9, call_open = ?10, claimed_at = ?11, call_deadline = ?12,
               outcome = ?13, ended_at = ?14, settled = ?15, reconciled = ?16, shown = ?17
             WHERE id = ?1",
        )?
        .execute(params![
            row.id.0,
            row.state.as_str(),
            row.decided_at.map(|t| t.0),
            row.usable_until.map(|t| t.0),
            row.decided_by,
            row.decision_reason,
            row.claim,
            stored.claimer.as_ref().map(|c| &c.holder.0),
            stored.claimer.as_ref().map(|c| number(c.fence)),
            stored.claimer.as_ref().is_some_and(|c| c.open),
            row.claimed_at.map(|t| t.0),
            row.call_deadline.map(|t| t.0),
            row.outcome.as_ref().map(json).transpose()?,
            row.ended_at.map(|t| t.0),
            row.settled.as_ref().map(json).transpose()?,
            row.reconciled.as_ref().map(json).transpose()?,
            json(&row.shown)?,
        ])?;
    one(changed, "approval")
}

fn select(db: &Connection, which: &str, bind: &[&dyn ToSql]) -> Result<Vec<(Stored, Tenure)>, Sql> {
    let mut find = db.prepare_cached(&format!("{SELECT} {which}"))?;
    let mut found = find.query(bind)?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let (mut stored, tenure, edits) = stored_of(row)?;
        if edits > 0 {
            stored.row.edits = edits::of(db, &stored.row.id, edits)?;
        }
        rows.push((stored, tenure));
    }
    Ok(rows)
}

fn stored_of(row: &rusqlite::Row<'_>) -> Result<(Stored, Tenure, i64), Sql> {
    let mut c = Columns::of(row);
    let (id, run, node, ask, digest) =
        (RowId(c.take()?), RunId(c.take()?), c.take()?, c.count()?, c.digest()?);
    let call = call_of(&mut c)?;
    let (question, reason, policy, terms) = (c.take()?, c.json()?, c.digest()?, terms_of(&mut c)?);
    let (key, edits) = (c.take()?, c.take::<i64>()?);
    let (plan, state) = (c.digest()?, c.known(RowState::named)?);
    let (created, expires, decided_at, usable_until): (Time, Time, _, _) =
        (c.time()?, c.time()?, c.time_or_none()?, c.time_or_none()?);
    let (decided_by, decision_reason, claim) = (c.take()?, c.take()?, c.take()?);
    let (holder, fence, open) = (c.take::<Option<String>>()?, c.take::<Option<i64>>()?, c.yes_no()?);
    let claimer = match (holder, fence.map(u64::try_from)) {
        (Some(holder), Some(Ok(fence))) => Some(Claimer { holder: Holder(holder), fence, open }),
        (None, None) => None,
        _ => return Err(c.damage("a claim lacks its holder or its fence")),
    };
    let (claimed_at, call_deadline) = (c.time_or_none()?, c.time_or_none()?);
    let (outcome, ended_at, reconciled, settled, shown) =
        (c.json_or_none()?, c.time_or_none()?, c.json_or_none()?, c.json_or_none()?, c.json()?);
    let tenure = tenure(&mut c)?;
    let row = Row {
        id,
        run,
        node,
        ask,
        call,
        digest,
        edits: Vec::new(),
        question,
        reason,
        policy,
        terms,
        plan,
        state,
        created,
        expires,
        decided_at,
        usable_until,
        decided_by,
        decision_reason,
        key,
        votes: Vec::new(),
        claim,
        claimed_at,
        call_deadline,
        outcome,
        ended_at,
        reconciled,
        settled,
        shown,
    };
    whole(&c, &row, claimer.as_ref())?;
    Ok((Stored { row, claimer }, tenure, edits))
}

/// The columns `call, server, origin, tool, definition, timeout_ms, args`: all of them, or none.
fn call_of(c: &mut Columns<'_>) -> Result<Option<RowCall>, Sql> {
    let (node, server, origin, tool): (Option<String>, Option<String>, Option<String>, Option<String>) =
        (c.take()?, c.take()?, c.take()?, c.take()?);
    let (definition, timeout_ms, args) = (c.digest_or_none()?, c.take::<Option<i64>>()?, c.take()?);
    match (node, server, tool, definition, timeout_ms, args) {
        (Some(node), Some(server), Some(tool), Some(definition), Some(timeout_ms), Some(args)) => {
            Ok(Some(RowCall { node, server, origin, tool, definition, args, timeout_ms }))
        }
        (None, None, None, None, None, None) => Ok(None),
        _ => Err(c.damage("a part of the call is missing")),
    }
}

/// The columns `deadline_ms, quorum, roles, verified_only, requester_may, may_edit, repeat`.
fn terms_of(c: &mut Columns<'_>) -> Result<Terms, Sql> {
    Ok(Terms {
        deadline_ms: c.take()?,
        quorum: c.count()?,
        roles: c.json()?,
        verified_only: c.yes_no()?,
        requester_may_decide: c.yes_no()?,
        may_edit: c.json_or_none()?,
        repeat: c.json_or_none()?,
    })
}

/// Refuses a row whose state needs what it does not have: such a row was not written by a verb.
fn whole(c: &Columns<'_>, row: &Row, claimer: Option<&Claimer>) -> Result<(), Sql> {
    let missing = match row.state {
        RowState::Pending | RowState::Expired | RowState::Cancelled => None,
        _ if row.decided_by.is_none() || row.decided_at.is_none() => Some("who decided, or when"),
        RowState::Approved if row.usable_until.is_none() => Some("until when it may be claimed"),
        RowState::Claimed | RowState::Uncertain
            if row.claim.is_none() || claimer.is_none() || row.call_deadline.is_none() =>
        {
            Some("its claim")
        }
        RowState::Succeeded | RowState::Failed if row.outcome.is_none() => Some("its outcome"),
        RowState::Happened | RowState::DidNot if row.settled.is_none() => Some("who settled it"),
        _ => None,
    };
    match missing {
        Some(what) => Err(c.damage(&format!("the row {} is {} and lacks {what}", row.id, row.state))),
        None => Ok(()),
    }
}

fn first(rows: Vec<(Stored, Tenure)>) -> Option<Stored> {
    rows.into_iter().next().map(|(stored, _)| stored)
}
