//! Reading columns one after the other. What nobody wrote is damage, never a default.

use plangate_graph::Digest;
use rusqlite::types::FromSql;
use serde::de::DeserializeOwned;

use super::fault::Sql;
use crate::clock::Time;

/// The columns of one result row, from left to right.
pub(super) struct Columns<'r> {
    row: &'r rusqlite::Row<'r>,
    next: usize,
}

impl<'r> Columns<'r> {
    pub(super) fn of(row: &'r rusqlite::Row<'r>) -> Columns<'r> {
        Columns { row, next: 0 }
    }

    /// The next column. `Option` takes NULL.
    pub(super) fn take<T: FromSql>(&mut self) -> Result<T, Sql> {
        let at = self.next;
        self.next += 1;
        Ok(self.row.get(at)?)
    }

    /// Through a function that knows what was written; anything else is damage.
    pub(super) fn known<T>(&mut self, known: impl Fn(&str) -> Option<T>) -> Result<T, Sql> {
        let text: String = self.take()?;
        known(&text).ok_or_else(|| self.damage(&format!("{text:?} is nothing that is written there")))
    }

    pub(super) fn yes_no(&mut self) -> Result<bool, Sql> {
        match self.take::<i64>()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.damage(&format!("{other} is neither 0 nor 1"))),
        }
    }

    pub(super) fn count<T: TryFrom<i64>>(&mut self) -> Result<T, Sql> {
        let number: i64 = self.take()?;
        T::try_from(number).map_err(|_| self.damage(&format!("{number} is out of range")))
    }

    pub(super) fn time(&mut self) -> Result<Time, Sql> {
        self.take().map(Time)
    }

    pub(super) fn time_or_none(&mut self) -> Result<Option<Time>, Sql> {
        Ok(self.take::<Option<i64>>()?.map(Time))
    }

    pub(super) fn digest(&mut self) -> Result<Digest, Sql> {
        self.take::<[u8; 32]>().map(Digest::from)
    }

    pub(super) fn digest_or_none(&mut self) -> Result<Option<Digest>, Sql> {
        Ok(self.take::<Option<[u8; 32]>>()?.map(Digest::from))
    }

    pub(super) fn json<T: DeserializeOwned>(&mut self) -> Result<T, Sql> {
        let text: String = self.take()?;
        serde_json::from_str(&text).map_err(|e| self.damage(&e.to_string()))
    }

    pub(super) fn json_or_none<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Sql> {
        match self.take::<Option<String>>()? {
            Some(text) => serde_json::from_str(&text).map(Some).map_err(|e| self.damage(&e.to_string())),
            None => Ok(None),
        }
    }

    /// Damage in the column that was read last.
    pub(super) fn damage(&self, what: &str) -> Sql {
        let name = self.row.as_ref().column_name(self.next.saturating_sub(1)).unwrap_or("?");
        Sql::Damaged(format!("column {name}: {what}"))
    }
}

/// JSON text of what is ours; only values that cannot be text fail.
pub(super) fn json<T: serde::Serialize>(value: &T) -> Result<String, Sql> {
    serde_json::to_string(value)
        .map_err(|e| Sql::Failed(rusqlite::Error::ToSqlConversionFailure(Box::new(e))))
}

/// A count as `SQLite` keeps it.
pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
