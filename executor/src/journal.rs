//! What is written down of a step, and when it happened.

use std::sync::Arc;
use std::time::Instant;

use plangate_approval::{StepState, StepWrite, Time};
use plangate_graph::Value;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::error::RunError;
use crate::values::Counted;

/// The detail of a stored step. Times are microseconds since the drive began in which they happened.
///
/// Values are borrowed: from the run where it is written, and as text from what is stored where it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "V: Deserialize<'de>"))]
pub(crate) struct Detail<V> {
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
    #[serde(default = "none", skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub(crate) arguments: Option<V>,
    /// Result of a read or a sentence. That of a call with a row stands in the row.
    #[serde(default = "none", skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub(crate) result: Option<V>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// What a check answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<bool>,
    /// What a join passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) list: Option<Box<[Counted]>>,
}

/// As it is written.
pub(crate) type Written<'a> = Detail<&'a Value>;

/// As it is read.
pub(crate) type Read<'a> = Detail<&'a RawValue>;

fn none<V>() -> Option<V> {
    None
}

/// What is absent is not read at all, so that a null is a value.
fn present<'de, D: Deserializer<'de>, V: Deserialize<'de>>(d: D) -> Result<Option<V>, D::Error> {
    V::deserialize(d).map(Some)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl<V: Serialize> Detail<V> {
    /// As it is stored.
    pub(crate) fn write(&self, node: &Arc<str>, state: StepState) -> Result<StepWrite, RunError> {
        let mut detail = Vec::with_capacity(256);
        serde_json::to_writer(&mut detail, self)
            .map_err(|e| RunError::Fault(format!("the detail of {node} cannot be written: {e}")))?;
        Ok(StepWrite { node: Arc::clone(node), state, detail: detail.into() })
    }
}

impl<'a> Read<'a> {
    /// Reads what was stored.
    pub(crate) fn of(step: &'a StepWrite) -> Result<Read<'a>, RunError> {
        serde_json::from_slice(&step.detail).map_err(|e| unreadable(&step.node, &e.to_string()))
    }
}

/// The value that stands in the stored detail of this node.
pub(crate) fn value(node: &str, raw: &RawValue) -> Result<Value, RunError> {
    Value::from_raw(raw).map_err(|e| unreadable(node, &e.to_string()))
}

fn unreadable(node: &str, why: &str) -> RunError {
    RunError::Fault(format!("the stored detail of {node} cannot be read: {why}"))
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
