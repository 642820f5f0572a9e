//! What is known of a call that changes something.

use plangate_graph::Value;
use serde::{Deserialize, Serialize};

/// What came of a call that changes something. No error type converts into `Failed` by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The tool answered, and this is its value.
    Ok(Value),
    /// The tool itself said that it failed (it may have done part).
    Failed(String),
    /// Nothing left this process; why.
    NotSent(String),
    /// It may have happened; why that is not known.
    Unknown(String),
}

/// What the host says of a call whose outcome nobody recorded, looked up by its idempotency key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reconciled {
    /// It happened, with this value if it is known.
    Happened(Option<Value>),
    /// It did not happen, and it will not any more.
    DidNot,
    /// The host cannot tell; why.
    Unknown(String),
}

impl Reconciled {
    /// The variant, as it is written: `happened`, `did_not`, `unknown`.
    pub fn kind(&self) -> &'static str {
        match self {
            Reconciled::Happened(_) => "happened",
            Reconciled::DidNot => "did_not",
            Reconciled::Unknown(_) => "unknown",
        }
    }
}

impl Outcome {
    /// The variant, as it is written: `ok`, `failed`, `not_sent`, `unknown`.
    pub fn kind(&self) -> &'static str {
        match self {
            Outcome::Ok(_) => "ok",
            Outcome::Failed(_) => "failed",
            Outcome::NotSent(_) => "not_sent",
            Outcome::Unknown(_) => "unknown",
        }
    }
}
