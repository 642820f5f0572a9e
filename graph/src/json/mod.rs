//! `actions.json`: the only serialised form of a plan.
//!
//! Written by an ordered writer of its own: fields in one order, one node and one edge a line, so that a difference reads
//! as one. No times, paths or host names. The last field is a digest over all before it: it shows accidents, not
//! attackers, since whoever edits the file can write a new one; what the file says is believed only after
//! [`Plan::verify`](crate::Plan::verify).

mod read;
mod wire;
mod write;

pub use wire::schema;

/// The format that this version writes and reads.
pub const FORMAT: &str = "actions/1";

/// Why a text is not an `actions.json` that this version reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct LoadError {
    /// Stable code, for instance `V0102`.
    pub code: &'static str,
    /// What is wrong, where, and what to do.
    pub message: String,
}

impl LoadError {
    fn new(code: &'static str, message: impl Into<String>) -> LoadError {
        LoadError { code, message: message.into() }
    }
}
