//! What is written down of a step, and when it happened.

use std::sync::Arc;
use std::time::Instant;

use plangate_approval::{StepState, StepWrite, Time};
use plangate_graph::Value;
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::values::Counted;

/// The detail of a stored step. Times are microseconds since the drive began in which they happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Detail {
    /// Number of the drive that wrote it: the fence of its lease.
    pub(crate) drive: u64,
    /// When that drive began.
    pub(crate) began: Time,
    /// When this was written.
    pub(crate) at: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) attempts: u32,
    /// When it became ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) queued: Option<u64>,
    /// When it was dispatched for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) started: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<u64>,
    /// Arguments of a read. Those of a call with a row stand in the row.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared")]
    pub(crate) arguments: Option<Arc<Value>>,
    /// Result of a read or a sentence. That of a call with a row stands in the row.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared")]
    pub(crate) result: Option<Arc<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// What a check answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<bool>,
    /// What a join passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) list: Option<Vec<Counted>>,
}

/// Values that the run holds too are written without a copy.
mod shared {
    use std::sync::Arc;

    use plangate_graph::Value;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::value::RawValue;

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(value: &Option<Arc<Value>>, s: S) -> Result<S::Ok, S::Error> {
        value.as_deref().serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Arc<Value>>, D::Error> {
        // What is absent is not read at all, so that a null is a value.
        let raw = <&RawValue>::deserialize(d)?;
        Value::from_raw(raw).map(|value| Some(Arc::new(value))).map_err(D::Error::custom)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Detail {
    /// As it is stored.
    pub(crate) fn write(&self, node: &str, state: StepState) -> Result<StepWrite, RunError> {
        let detail = serde_json::to_vec(self)
            .map_err(|e| RunError::Fault(format!("the detail of {node} cannot be written: {e}")))?;
        Ok(StepWrite { node: node.to_owned(), state, detail })
    }

    /// Reads what was stored.
    pub(crate) fn read(step: &StepWrite) -> Result<Detail, RunError> {
        serde_json::from_slice(&step.detail)
            .map_err(|e| RunError::Fault(format!("the stored detail of {} cannot be read: {e}", step.node)))
    }
}

/// The clock of one drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    began: Instant,
    /// When the drive began, on the store's clock.
    pub(crate) began_at: Time,
}

impl Watch {
    pub(crate) fn start(began_at: Time) -> Watch {
        Watch { began: Instant::now(), began_at }
    }

    /// Microseconds since the drive began.
    pub(crate) fn micros(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}
