//! Edits in `SQLite`.

use rusqlite::{Connection, params};

use super::columns::{Columns, json};
use super::fault::Sql;
use super::runs::one;
use crate::row::{Edited, RowId};
use crate::state::Stored;

/// Writes what an edit changed of a row, and keeps what it replaced.
pub(super) fn save(db: &Connection, stored: &Stored, edited: &Edited) -> Result<(), Sql> {
    let row = &stored.row;
    let terms = &row.terms;
    let changed = db
        .prepare_cached(
            "UPDATE approval SET digest = ?2, args = ?3, key = ?4, reason = ?5, deadline_ms = ?6, quorum = ?7, roles = ?8,
               verified_only = ?9, requester_may = ?10, may_edit = ?11, expires = ?12, edits = ?13, repeat = ?14
             WHERE id = ?1",
        )?
        .execute(params![
            row.id.0,
            row.digest.as_bytes(),
            row.call.as_ref().map(|call| &call.args),
            row.key,
            json(&row.reason)?,
            terms.deadline_ms,
            terms.quorum,
            json(&terms.roles)?,
            terms.verified_only,
            terms.requester_may_decide,
            terms.may_edit.as_ref().map(json).transpose()?,
            row.expires.0,
            count(row.edits.len()),
            terms.repeat.as_ref().map(json).transpose()?,
        ])?;
    one(changed, "approval")?;
    db.prepare_cached(
        "INSERT INTO edit (approval, number, digest, args, key, by, at, note) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        row.id.0,
        count(row.edits.len().saturating_sub(1)),
        edited.digest.as_bytes(),
        edited.args,
        edited.key,
        json(&edited.by)?,
        edited.at.0,
        edited.note,
    ])?;
    Ok(())
}

/// The edits of a row, which says how many there are.
pub(super) fn of(db: &Connection, row: &RowId, count: i64) -> Result<Vec<Edited>, Sql> {
    let mut find = db.prepare_cached(
        "SELECT number, digest, args, key, by, at, note FROM edit WHERE approval = ?1 ORDER BY number",
    )?;
    let mut found = find.query([&row.0])?;
    let mut edits = Vec::new();
    while let Some(found) = found.next()? {
        let mut c = Columns::of(found);
        let number: i64 = c.take()?;
        if i64::try_from(edits.len()) != Ok(number) {
            return Err(Sql::Damaged(format!("an edit of the row {row} is missing")));
        }
        let (digest, args, key) = (c.digest()?, c.take()?, c.take()?);
        edits.push(Edited { digest, args, key, by: c.json()?, at: c.time()?, note: c.take()? });
    }
    if i64::try_from(edits.len()) == Ok(count) {
        Ok(edits)
    } else {
        Err(Sql::Damaged(format!(
            "the row {row} says that it was edited {count} times, and {} are kept",
            edits.len()
        )))
    }
}

pub(super) fn count(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}
