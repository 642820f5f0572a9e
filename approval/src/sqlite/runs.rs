//! Runs, steps and documents in `SQLite`.

use std::sync::Arc;

use plangate_graph::{Digest, Document};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::columns::{Columns, json, number};
use super::fault::Sql;
use super::rows::not_over;
use crate::clock::Time;
use crate::run::{Holder, NewRun, Run, RunId, RunState, StepState, StepWrite};
use crate::state::{RunHead, Tenure};
use crate::storage::Accepted;

pub(super) fn head(db: &Connection, id: &RunId) -> Result<Option<RunHead>, Sql> {
    let mut find = db.prepare_cached(
        "SELECT plan, requester, hold_siblings, state, reason, fence, holder, lease_until, wake, cancel_at, updated
         FROM run WHERE id = ?1",
    )?;
    let mut found = find.query([&id.0])?;
    let Some(row) = found.next()? else { return Ok(None) };
    let mut c = Columns::of(row);
    Ok(Some(RunHead {
        id: id.clone(),
        plan: c.digest()?,
        requester: Arc::new(c.json()?),
        hold_siblings: c.yes_no()?,
        state: c.known(RunState::named)?,
        reason: c.take()?,
        tenure: tenure(&mut c)?,
        wake: c.count()?,
        cancel_at: c.time_or_none()?,
        updated: c.time()?,
    }))
}

/// The columns `fence, holder, lease_until`.
pub(super) fn tenure(c: &mut Columns<'_>) -> Result<Tenure, Sql> {
    Ok(Tenure {
        fence: c.count()?,
        holder: c.take::<Option<String>>()?.map(Holder),
        lease_until: c.time_or_none()?,
    })
}

pub(super) fn add(db: &Connection, new: &NewRun, head: &RunHead, created: Time) -> Result<(), Sql> {
    let catalog = keep(db, &new.catalog)?;
    let policy = keep(db, &new.policy)?;
    let inputs = keep(db, &Document::from(new.inputs.as_slice()))?;
    let plan = keep(db, &new.plan)?;
    db.prepare_cached(
        "INSERT INTO run (id, plan, catalog, policy, inputs, requester, author, title, hold_siblings, created,
           state, reason, fence, holder, lease_until, wake, cancel_at, updated)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
    )?
    .execute(params![
        new.id.0,
        plan.as_bytes(),
        catalog.as_bytes(),
        policy.as_bytes(),
        inputs.as_bytes(),
        json(&new.requester)?,
        new.author,
        new.title,
        new.hold_siblings,
        created.0,
        head.state.as_str(),
        head.reason,
        number(head.tenure.fence),
        head.tenure.holder.as_ref().map(|h| &h.0),
        head.tenure.lease_until.map(|t| t.0),
        number(head.wake),
        head.cancel_at.map(|t| t.0),
        head.updated.0,
    ])?;
    Ok(())
}

pub(super) fn replace_documents(db: &Connection, run: &RunId, accepted: &Accepted) -> Result<(), Sql> {
    let (plan, catalog, policy) =
        (keep(db, &accepted.plan)?, keep(db, &accepted.catalog)?, keep(db, &accepted.policy)?);
    let changed = db
        .prepare_cached("UPDATE run SET plan = ?2, catalog = ?3, policy = ?4 WHERE id = ?1")?
        .execute(params![run.0, plan.as_bytes(), catalog.as_bytes(), policy.as_bytes()])?;
    one(changed, "run")
}

pub(super) fn save(db: &Connection, head: &RunHead) -> Result<(), Sql> {
    let changed = db
        .prepare_cached(
            "UPDATE run SET state = ?2, reason = ?3, fence = ?4, holder = ?5, lease_until = ?6, wake = ?7,
               cancel_at = ?8, updated = ?9
             WHERE id = ?1",
        )?
        .execute(params![
            head.id.0,
            head.state.as_str(),
            head.reason,
            number(head.tenure.fence),
            head.tenure.holder.as_ref().map(|h| &h.0),
            head.tenure.lease_until.map(|t| t.0),
            number(head.wake),
            head.cancel_at.map(|t| t.0),
            head.updated.0,
        ])?;
    one(changed, "run")
}

const WHOLE: &str =
    "SELECT id, plan, catalog, policy, document.bytes, requester, author, title, hold_siblings, created,
    state, reason, fence, holder, lease_until, wake, cancel_at, updated
  FROM run LEFT JOIN document ON document.digest = run.inputs";

pub(super) fn whole(db: &Connection, id: &RunId) -> Result<Option<Run>, Sql> {
    let mut find = db.prepare_cached(&format!("{WHOLE} WHERE id = ?1"))?;
    let mut found = find.query([&id.0])?;
    found.next()?.map(whole_of).transpose()
}

pub(super) fn all(db: &Connection) -> Result<Vec<Run>, Sql> {
    let mut find = db.prepare_cached(&format!("{WHOLE} ORDER BY run.created DESC, run.rowid DESC"))?;
    let mut found = find.query([])?;
    let mut runs = Vec::new();
    while let Some(row) = found.next()? {
        runs.push(whole_of(row)?);
    }
    Ok(runs)
}

fn whole_of(row: &rusqlite::Row<'_>) -> Result<Run, Sql> {
    let mut c = Columns::of(row);
    let (id, plan, catalog, policy) = (RunId(c.take()?), c.digest()?, c.digest()?, c.digest()?);
    let (inputs, requester, author, title) = (c.take()?, c.json()?, c.take()?, c.take()?);
    let (hold_siblings, created) = (c.yes_no()?, c.time()?);
    let (state, reason, tenure) = (c.known(RunState::named)?, c.take()?, tenure(&mut c)?);
    Ok(Run {
        id,
        plan,
        catalog,
        policy,
        inputs,
        requester,
        author,
        title,
        hold_siblings,
        state,
        reason,
        fence: tenure.fence,
        holder: tenure.holder.map(|h| h.0),
        lease_until: tenure.lease_until,
        driven: false,
        wake: c.count()?,
        cancel_at: c.time_or_none()?,
        created,
        updated: c.time()?,
    })
}

/// Holders that runs name, live or not.
pub(super) fn holders(db: &Connection) -> Result<Vec<String>, Sql> {
    let mut find = db.prepare(concat!(
        "SELECT holder FROM run WHERE holder IS NOT NULL
         UNION
         SELECT claim_holder FROM approval WHERE ",
        not_over!("state"),
        " AND call_open = 1 AND claim_holder IS NOT NULL"
    ))?;
    let found = find.query_map([], |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn write_step(db: &Connection, run: &RunId, step: &StepWrite) -> Result<(), Sql> {
    db.prepare_cached(
        "INSERT INTO step (run, node, state, detail) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (run, node) DO UPDATE SET state = excluded.state, detail = excluded.detail",
    )?
    .execute(params![run.0, &*step.node, step.state.as_str(), &*step.detail])?;
    Ok(())
}

pub(super) fn set_step(db: &Connection, run: &RunId, node: &str, state: StepState) -> Result<(), Sql> {
    db.prepare_cached("UPDATE step SET state = ?3 WHERE run = ?1 AND node = ?2")?.execute(params![
        run.0,
        node,
        state.as_str()
    ])?;
    Ok(())
}

pub(super) fn cancel_steps(db: &Connection, run: &RunId) -> Result<(), Sql> {
    db.prepare_cached(
        "UPDATE step SET state = 'cancelled'
         WHERE run = ?1 AND state IN ('waiting', 'ready', 'running', 'pending')",
    )?
    .execute([&run.0])?;
    Ok(())
}

pub(super) fn steps(db: &Connection, run: &RunId) -> Result<Vec<StepWrite>, Sql> {
    let mut find = db.prepare_cached("SELECT node, state, detail FROM step WHERE run = ?1 ORDER BY node")?;
    let mut found = find.query([&run.0])?;
    let mut steps = Vec::new();
    while let Some(row) = found.next()? {
        let mut c = Columns::of(row);
        steps.push(StepWrite { node: c.take()?, state: c.known(StepState::named)?, detail: c.take()? });
    }
    Ok(steps)
}

/// Keeps a document under its digest.
fn keep(db: &Connection, document: &Document) -> Result<Digest, Sql> {
    let digest = document.digest();
    db.prepare_cached(
        "INSERT INTO document (digest, bytes) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING",
    )?
    .execute(params![digest.as_bytes(), document.bytes()])?;
    Ok(digest)
}

pub(super) fn document(db: &Connection, digest: &Digest) -> Result<Option<Vec<u8>>, Sql> {
    let mut find = db.prepare_cached("SELECT bytes FROM document WHERE digest = ?1")?;
    let bytes: Option<Vec<u8>> = find.query_row([digest.as_bytes()], |row| row.get(0)).optional()?;
    match bytes {
        Some(bytes) if Digest::of(&bytes) != *digest => {
            Err(Sql::Damaged(format!("the document {digest} has other bytes")))
        }
        bytes => Ok(bytes),
    }
}

/// One line was written, or the store is not what was read in this transaction.
pub(super) fn one(changed: usize, what: &str) -> Result<(), Sql> {
    if changed == 1 {
        Ok(())
    } else {
        Err(Sql::Damaged(format!("{changed} lines of {what} were written, not one")))
    }
}
