//! Opening the file: who may read it, whether it is a store, and which version.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};
use rustix::fs::Access;
use rustix::io::Errno;

use super::fault::{Sql, refused, unusable};
use crate::clock::Time;
use crate::random;
use crate::storage::{Fault, StoreError};

/// Schema version that this code reads and writes, in `user_version`.
pub(super) const VERSION: i64 = 2;
/// `plgt`, in the header's application id.
const APPLICATION: i64 = 0x706c_6774;
/// How long a verb waits for another process.
const BUSY: Duration = Duration::from_secs(10);
const SCHEMA: &str = include_str!("schema.sql");
/// What leads from each version to the next one, from version 1 on.
const STEPS: [&str; 1] = [include_str!("steps/2.sql")];

/// Makes a store and its folder where there is nothing, readable by its owner alone, and gives its one true path.
pub(super) fn file(path: &Path, now: Time) -> Result<PathBuf, StoreError> {
    let io = |e: std::io::Error| refused(path, &e);
    if std::fs::symlink_metadata(path).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io)?;
        let bytes = laid_out(now, &random::id()?).map_err(|e| e.at(path))?;
        put(&bytes, path, folder).map_err(io)?;
    }
    let path = std::fs::canonicalize(path).map_err(io)?;
    let found = std::fs::metadata(&path).map_err(io)?;
    if !found.is_file() {
        return Err(unusable(&path, Fault::NotAStore, "is not a file"));
    }
    let mode = found.permissions().mode();
    if mode & 0o222 == 0 {
        return Err(unusable(&path, Fault::ReadOnly, "cannot be written: its mode is read-only"));
    }
    if rustix::fs::access(&path, Access::WRITE_OK) == Err(Errno::ROFS) {
        return Err(unusable(&path, Fault::ReadOnly, "cannot be written: its file system is read-only"));
    }
    Ok(path)
}

/// Puts a new store in its place, whole and durable, in one step. Whatever another process put there meanwhile stays.
fn put(bytes: &[u8], path: &Path, folder: &Path) -> std::io::Result<()> {
    let mut made = tempfile::Builder::new().prefix(".plangate-").suffix(".new").tempfile_in(folder)?;
    made.write_all(bytes)?;
    made.as_file().sync_all()?;
    match made.persist_noclobber(path) {
        Err(other) if other.error.kind() == ErrorKind::AlreadyExists => {}
        Err(other) => return Err(other.error),
        // The name must last as long as what is committed under it.
        Ok(_) => File::open(folder)?.sync_all()?,
    }
    Ok(())
}

/// The bytes of a new store, which keeps a write-ahead log. Made in memory: laid out in its file, each page and the change
/// of the log's kind would be waited for on the disk.
fn laid_out(now: Time, id: &str) -> Result<Vec<u8>, Sql> {
    let mut db = Connection::open_in_memory()?;
    lay_out(&mut db, now, id)?;
    let mut bytes = db.serialize(rusqlite::MAIN_DB)?.to_vec();
    // The versions of the file format for writing and reading: 2 is a write-ahead log.
    bytes.get_mut(18..20).into_iter().for_each(|versions| versions.fill(2));
    Ok(bytes)
}

/// Takes from everybody but the owner what a copy or a lax mask gave them. `SQLite` makes its log with the same mode.
fn keep_private(path: &Path) -> Result<(), StoreError> {
    let io = |e: std::io::Error| refused(path, &e);
    let mode = std::fs::metadata(path).map_err(io)?.permissions().mode();
    let owners = mode & 0o700;
    if mode & 0o777 == owners {
        return Ok(());
    }
    std::fs::set_permissions(path, Permissions::from_mode(owners)).map_err(io)
}

/// A connection for one thread at a time. Changes nothing in a file that is not a store.
pub(super) fn connect(path: &Path) -> Result<Connection, Sql> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY)?;
    db.set_prepared_statement_cache_capacity(64);
    // A plan looks at no values, so that a statement is not prepared again each time others are bound to it.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Per connection; `journal_mode` is kept in the file and set once it is ours.
    db.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;")?;
    Ok(db)
}

/// Looks at what the file is, and lays out a store in an empty one. Gives the store's id.
pub(super) fn identify(db: &mut Connection, path: &Path, now: Time) -> Result<String, StoreError> {
    let at = |e: Sql| e.at(path);
    if db.is_readonly(rusqlite::MAIN_DB).map_err(|e| at(e.into()))? {
        return Err(unusable(path, Fault::ReadOnly, "cannot be written: it is read-only"));
    }
    if is_empty(db).map_err(at)? {
        lay_out(db, now, &random::id()?).map_err(at)?;
    }
    let application = pragma(db, "application_id").map_err(at)?;
    if application != APPLICATION {
        return Err(unusable(path, Fault::NotAStore, "is a database, but not a plangate store"));
    }
    let found = bring_forward(db).map_err(at)?;
    if found != VERSION {
        return Err(StoreError::Version { found, known: VERSION });
    }
    keep_private(path)?;
    let mode: String =
        db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(|e| at(e.into()))?;
    if mode != "wal" {
        return Err(unusable(path, Fault::NoAccess, format!("cannot keep a write-ahead log there ({mode})")));
    }
    let id = db.query_row("SELECT id FROM store", [], |row| row.get(0));
    match id {
        Ok(id) => Ok(id),
        Err(rusqlite::Error::QueryReturnedNoRows) => {
            Err(unusable(path, Fault::Damaged, "is damaged: it has lost its id"))
        }
        Err(e) => Err(at(e.into())),
    }
}

/// Lays out the tables, unless another process just did.
fn lay_out(db: &mut Connection, now: Time, id: &str) -> Result<(), Sql> {
    let all = db.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    if is_empty(&all)? {
        all.execute_batch(SCHEMA)?;
        all.execute("INSERT INTO store (id, created) VALUES (?1, ?2)", params![id, now.0])?;
        all.pragma_update(None, "application_id", APPLICATION)?;
        all.pragma_update(None, "user_version", VERSION)?;
    }
    all.commit()?;
    Ok(())
}

/// Takes a store of an earlier version to this one, step by step in one transaction, unless another process just did.
/// Gives the version that the store has now.
fn bring_forward(db: &mut Connection) -> Result<i64, Sql> {
    let older = |found: i64| (1..VERSION).contains(&found);
    let found = pragma(db, "user_version")?;
    if !older(found) {
        return Ok(found);
    }
    let all = db.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let found = pragma(&all, "user_version")?;
    if !older(found) {
        return Ok(found);
    }
    for step in STEPS.iter().skip(usize::try_from(found - 1).unwrap_or(usize::MAX)) {
        all.execute_batch(step)?;
    }
    all.pragma_update(None, "user_version", VERSION)?;
    all.commit()?;
    Ok(VERSION)
}

fn is_empty(db: &Connection) -> Result<bool, Sql> {
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0 && pragma(db, "application_id")? == 0 && pragma(db, "user_version")? == 0)
}

fn pragma(db: &Connection, name: &str) -> Result<i64, Sql> {
    Ok(db.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?)
}
