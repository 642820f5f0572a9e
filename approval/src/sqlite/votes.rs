//! Votes in `SQLite`.

use std::collections::HashMap;

use rusqlite::types::ToSql;
use rusqlite::{Connection, params};

use super::columns::{Columns, json};
use super::fault::Sql;
use super::rows::{listed, not_over, with_digests};
use crate::row::{Person, RowId, Vote};
use crate::state::{Stored, Tenure};
use crate::verbs::RowsOf;

const VOTES: &str =
    "SELECT approval, issuer, subject, roles, verified, yes, digest, edits, at, reason FROM vote";
const IN_ORDER: &str = "ORDER BY at, issuer, subject";

pub(super) fn keep_vote(db: &Connection, row: &RowId, vote: &Vote) -> Result<(), Sql> {
    db.prepare_cached(
        "INSERT INTO vote (approval, digest, issuer, subject, roles, verified, yes, at, reason, edits)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (approval, edits, issuer, subject) DO UPDATE SET roles = excluded.roles,
           verified = excluded.verified, yes = excluded.yes, at = excluded.at, reason = excluded.reason",
    )?
    .execute(params![
        row.0,
        vote.digest.as_bytes(),
        vote.by.issuer,
        vote.by.subject,
        json(&vote.by.roles)?,
        vote.by.verified,
        vote.yes,
        vote.at.0,
        vote.reason,
        vote.edits,
    ])?;
    Ok(())
}

/// The rows with their votes, row by row.
pub(super) fn with_votes(
    db: &Connection,
    mut rows: Vec<(Stored, Tenure)>,
) -> Result<Vec<(Stored, Tenure)>, Sql> {
    for (stored, _) in &mut rows {
        let mut find = db.prepare_cached(&format!("{VOTES} WHERE approval = ?1 {IN_ORDER}"))?;
        let mut found = find.query([&stored.row.id.0])?;
        while let Some(row) = found.next()? {
            stored.row.votes.push(vote_of(row)?.1);
        }
    }
    Ok(rows)
}

/// The rows with their votes, which are read in one statement.
pub(super) fn with_all_votes(
    db: &Connection,
    of: RowsOf<'_>,
    mut rows: Vec<(Stored, Tenure)>,
) -> Result<Vec<(Stored, Tenure)>, Sql> {
    let digests;
    let (which, bind): (&str, Vec<&dyn ToSql>) = match &of {
        RowsOf::Digests(of) => {
            digests = listed(of);
            (
                concat!("WHERE approval IN (SELECT id FROM approval WHERE ", with_digests!("digest"), ")"),
                vec![&digests],
            )
        }
        RowsOf::Row(id) => ("WHERE approval = ?1", vec![&id.0]),
        RowsOf::Run(run) => ("WHERE approval IN (SELECT id FROM approval WHERE run = ?1)", vec![&run.0]),
        RowsOf::All => ("", Vec::new()),
        // Few rows: their votes are read one by one.
        RowsOf::Same { .. } => return with_votes(db, rows),
        RowsOf::Open => (
            concat!("WHERE approval IN (SELECT id FROM approval WHERE ", not_over!("state"), ")"),
            Vec::new(),
        ),
    };
    let mut find = db.prepare_cached(&format!("{VOTES} {which} {IN_ORDER}"))?;
    let mut found = find.query(bind.as_slice())?;
    let mut votes: HashMap<String, Vec<Vote>> = HashMap::new();
    while let Some(row) = found.next()? {
        let (of, vote) = vote_of(row)?;
        votes.entry(of).or_default().push(vote);
    }
    for (stored, _) in &mut rows {
        stored.row.votes = votes.remove(&stored.row.id.0).unwrap_or_default();
    }
    Ok(rows)
}

fn vote_of(row: &rusqlite::Row<'_>) -> Result<(String, Vote), Sql> {
    let mut c = Columns::of(row);
    let of = c.take()?;
    let by = Person { issuer: c.take()?, subject: c.take()?, roles: c.json()?, verified: c.yes_no()? };
    Ok((
        of,
        Vote {
            by,
            yes: c.yes_no()?,
            digest: c.digest()?,
            edits: c.count()?,
            at: c.time()?,
            reason: c.take()?,
        },
    ))
}
