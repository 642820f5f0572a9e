//! One node of a record.

use std::sync::Arc;

use plangate_approval::row::{Settled, Vote};
use plangate_approval::{Person, Reconciled, RowId, RowState, StepState, Time};
use plangate_graph::{Digest, Value};
use serde::{Deserialize, Serialize};

use crate::values::Counted;

/// One node of a run. There are as many as a plan has nodes: what is large and rarely there is kept elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Id of the node.
    pub id: String,
    /// What it is.
    pub kind: Word,
    /// Server and tool of a call, or of the call behind a gate.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared")]
    pub tool: Option<Arc<str>>,
    /// Its state.
    pub state: StepState,
    /// How often it was started.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// Number of the drive in which it ran or ended; 1 is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<u64>,
    /// When it became ready, since that drive began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<u64>,
    /// When it was first started, since that drive began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// When it ended, since that drive began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<u64>,
    /// When it was first started, by the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When it ended, by the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// The arguments of a call: final, as they were sent or would be.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub arguments: Option<Value>,
    /// The instruction of a sentence, or the words of a question with their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// What it gave.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub result: Option<Value>,
    /// What a check answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<bool>,
    /// Why it failed, or why its outcome is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it did not run: the node at the root of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<Cause>>,
    /// Its rows, in the order they were asked: who decided what and when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decided>,
    /// What a join passed on when it fired, in typed order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Box<[Counted]>>,
    /// Counted steps that ended after the join had fired without them. They changed nothing there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<String>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// A call of a tool.
    Call,
    /// A sentence for the writer.
    Sentence,
    /// A join.
    Join,
    /// The stop in front of a call.
    Gate,
    /// A question in front of several steps.
    Question,
    /// A test that the machine answers.
    Check,
}

/// The node at the root of why another did not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Its id.
    pub node: String,
    /// Its state.
    pub state: StepState,
    /// Why it is so, if it says: an error, or the reason given with a no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What became of one row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The row.
    pub row: RowId,
    /// Its state.
    pub state: RowState,
    /// Digest of what was asked.
    pub digest: Digest,
    /// When it was asked.
    pub asked: Time,
    /// Until when it may be decided.
    pub expires: Time,
    /// Who decided, in words: people, or the policy rule that let it through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// What was said with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// All votes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// What edits replaced, first to last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Replaced>,
    /// What the host said of the call, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconciled: Option<Reconciled>,
    /// Who settled it, whether it happened, and the note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
}

/// Arguments that an edit replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// Their digest.
    pub edited_from: Digest,
    /// The arguments before.
    pub arguments: Value,
    /// Who edited.
    pub by: Person,
    /// When.
    pub at: Time,
    /// What was said with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A text that many steps share, written as any other.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(text: &Option<Arc<str>>, s: S) -> Result<S::Ok, S::Error> {
        text.as_deref().serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(d)?.map(Arc::from))
    }
}

/// A null that is there is a value.
fn present<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(d).map(Some)
}
