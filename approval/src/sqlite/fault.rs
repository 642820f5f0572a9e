//! What goes wrong in `SQLite`, as the faults that a store tells of.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::storage::{Fault, StoreError};

/// A failed statement, or a value that nobody wrote.
#[derive(Debug)]
pub(super) enum Sql {
    /// `SQLite`'s own word.
    Failed(rusqlite::Error),
    /// What is damaged.
    Damaged(String),
}

impl From<rusqlite::Error> for Sql {
    fn from(error: rusqlite::Error) -> Sql {
        Sql::Failed(error)
    }
}

impl Sql {
    /// As the store at this path tells it.
    pub(super) fn at(self, path: &Path) -> StoreError {
        let (fault, message) = match self {
            Sql::Damaged(what) => (Fault::Damaged, format!("is damaged: {what}")),
            Sql::Failed(error) => told(&error),
        };
        unusable(path, fault, message)
    }
}

pub(super) fn unusable(path: &Path, fault: Fault, message: impl Into<String>) -> StoreError {
    StoreError::Unusable { path: path.display().to_string(), fault, message: message.into() }
}

/// A file that the operating system refused.
pub(super) fn refused(path: &Path, error: &std::io::Error) -> StoreError {
    use std::io::ErrorKind;
    let fault = match error.kind() {
        ErrorKind::PermissionDenied
        | ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::AlreadyExists => Fault::NoAccess,
        ErrorKind::ReadOnlyFilesystem => Fault::ReadOnly,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Fault::Full,
        _ => Fault::Io,
    };
    unusable(path, fault, format!("cannot be used: {error}"))
}

fn told(error: &rusqlite::Error) -> (Fault, String) {
    let Some(code) = error.sqlite_error_code() else {
        // Conversions of what was read: another type than the schema has, text that is not UTF-8.
        return (Fault::Damaged, format!("is damaged: {error}"));
    };
    match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            (Fault::Locked, "is locked by another process; nothing was written, try again".into())
        }
        ErrorCode::ReadOnly => (Fault::ReadOnly, "cannot be written: it is read-only".into()),
        ErrorCode::DiskFull => (Fault::Full, "cannot be written: the disk is full".into()),
        ErrorCode::NotADatabase => (Fault::NotAStore, "is not a database".into()),
        ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch => {
            (Fault::Damaged, format!("is damaged: {error}"))
        }
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            (Fault::NoAccess, format!("cannot be opened: {error}"))
        }
        _ => (Fault::Io, format!("cannot be used: {error}")),
    }
}
