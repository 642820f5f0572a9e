//! `actions.json`: the only serialised form of a plan.

use crate::digest::Digest;
use crate::plan::Plan;

/// Why a text is not an `actions.json` that this version reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct LoadError {
    /// Stable code, for instance `V0101`.
    pub code: &'static str,
    /// What is wrong, where, and what to do.
    pub message: String,
}

impl Plan {
    /// The bytes of `actions.json`; the same on every machine.
    pub fn to_json(&self) -> String {
        String::new()
    }

    /// The digest of those bytes: the plan's name in the store.
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_json().as_bytes())
    }

    /// Reads `actions.json`. Refuses another format version, unknown fields, duplicate keys and whatever is no graph.
    /// What it says about effects and gates is not yet believed: see [`Plan::verify`].
    pub fn from_json(text: &str) -> Result<Plan, LoadError> {
        let _ = text;
        Err(LoadError { code: "V0100", message: "not read yet".into() })
    }
}
