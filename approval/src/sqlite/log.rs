//! The event log in `SQLite`.

use rusqlite::{Connection, OptionalExtension as _, params};

use plangate_graph::Digest;

use super::columns::{Columns, number};
use super::fault::Sql;
use crate::clock::Time;
use crate::storage::Event;

/// Position and hash of the last event, or what stands before the first.
pub(super) fn head(db: &Connection, genesis: Digest) -> Result<(u64, Digest), Sql> {
    let mut find = db.prepare_cached("SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1")?;
    let mut found = find.query([])?;
    match found.next()? {
        Some(row) => {
            let mut c = Columns::of(row);
            Ok((c.count()?, c.digest()?))
        }
        None => Ok((0, genesis)),
    }
}

/// Appends after this head and gives the new one.
pub(super) fn append(
    db: &Connection,
    (seq, prev): (u64, Digest),
    at: Time,
    what: String,
) -> Result<(u64, Digest), Sql> {
    let event = Event::chained(prev, seq.saturating_add(1), at, what);
    db.prepare_cached("INSERT INTO event (seq, at, what, hash) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![number(event.seq), event.at.0, event.what, event.hash.as_bytes()])?;
    Ok((event.seq, event.hash))
}

/// Events after a position. `prev` of each is the hash that the one before it carries.
pub(super) fn after(db: &Connection, seq: u64, genesis: Digest) -> Result<Vec<Event>, Sql> {
    let before: Option<[u8; 32]> = db
        .prepare_cached("SELECT hash FROM event WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1")?
        .query_row([number(seq)], |row| row.get(0))
        .optional()?;
    let mut prev = before.map_or(genesis, Digest::from);
    let mut find = db.prepare_cached("SELECT seq, at, what, hash FROM event WHERE seq > ?1 ORDER BY seq")?;
    let mut found = find.query([number(seq)])?;
    let mut events = Vec::new();
    while let Some(row) = found.next()? {
        let mut c = Columns::of(row);
        let event = Event { seq: c.count()?, at: c.time()?, what: c.take()?, prev, hash: c.digest()? };
        prev = event.hash;
        events.push(event);
    }
    Ok(events)
}
