//! What results look like on a terminal.

pub(crate) mod arguments;
pub(crate) mod card;
pub(crate) mod paint;
pub(crate) mod problems;
pub(crate) mod progress;
pub(crate) mod put;
pub(crate) mod record;
pub(crate) mod row;
pub(crate) mod starting;
pub(crate) mod state;
pub(crate) mod time;
pub(crate) mod timeline;
pub(crate) mod tools;
